/** The parent's side of `program-process.ts`. */
import { buildSync } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command } from './program-process.ts';

const FILE = fileURLToPath(new URL('program-process.ts', import.meta.url));

let built: string | undefined;

/** The program in one file, which Node loads much faster than the sources. Removed at the end. */
function builtFile(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'everloop-programs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'program-process.mjs');
  buildSync({
    entryPoints: [FILE],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  });
  built = outfile;
  return outfile;
}

/** Another process that runs programs. */
export interface OtherProcess {
  /** Its answer to a command. Rejects when it has ended. */
  readonly ask: <Answer>(command: Command) => Promise<Answer>;
  readonly close: () => void;
}

/** Starts one; `node` is another Node than this one's. */
export function startOther(
  env: Readonly<Record<string, string>> = {},
  node?: string,
): OtherProcess {
  const child = spawn(node ?? process.execPath, [builtFile()], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask<Answer>(command: Command): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error('The other process has ended.');
      return JSON.parse(value) as Answer;
    },
    close: () => child.stdin.end(),
  };
}
