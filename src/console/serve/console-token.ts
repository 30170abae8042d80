/** The token of a console on this machine: made once, and kept in the data folder. */
import { randomBytes, randomUUID } from 'node:crypto';
import { access, link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../core/base/usage-error.ts';
import { readOwnFile } from '../../protection/own-file.ts';
import { MIN_TOKEN_CHARACTERS } from '../access.ts';

const TOKEN_BYTES = 32;

/**
 * The token of the data folder, made if there is none: 32 random bytes, in a file that only its owner
 * may read.
 *
 * @throws UsageError `console` for a file that others may read, or that holds no token.
 */
export async function keptToken(dataDir: string): Promise<string> {
  const file = join(dataDir, 'console-token');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (!(await exists(file))) await writeToken(file);
  const found = readOwnFile(file);
  if ('problem' in found) throw new UsageError('console', found.problem);
  const token = found.text.trim();
  if (token.length >= MIN_TOKEN_CHARACTERS) return token;
  throw new UsageError(
    'console',
    `Expected \`${file}\` to hold the token of the console, got ${token.length} characters. Delete the file; the next start makes another.`,
  );
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Writes a new token, unless another console was faster: then both read the same. */
async function writeToken(file: string): Promise<void> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  // Linked when it is whole, so that no reader sees a part of it.
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, `${token}\n`, { flag: 'wx', mode: 0o600 });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
