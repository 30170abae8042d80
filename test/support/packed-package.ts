/** The package as `npm pack` makes it: built and packed once for a run of tests, whoever asks first. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILDS_FOLDER } from './builds.ts';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** How long a build may take on a busy machine. */
const BUILD_MS = 400_000;

/** The path of the tarball. */
export async function packedPackage(): Promise<string> {
  const folder = join(process.env[BUILDS_FOLDER] ?? '', 'package');
  const tarball = join(folder, 'everloop.tgz');
  const failure = join(folder, 'failure.txt');
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  );
  if (isFirst) await pack(folder, tarball).catch((error) => writeFile(failure, String(error)));
  await eventually('a packed package', () => existsSync(tarball) || existsSync(failure), BUILD_MS);
  if (existsSync(tarball)) return tarball;
  throw new Error(await readFile(failure, 'utf8'));
}

async function pack(folder: string, tarball: string): Promise<void> {
  await run('npm', ['run', 'build'], { cwd: ROOT });
  const making = join(folder, 'making');
  await mkdir(making);
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', making], { cwd: ROOT });
  const [name = ''] = await readdir(making);
  await rename(join(making, name), tarball);
}
