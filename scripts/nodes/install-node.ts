/** Other versions of Node, with the npm that they come with, from the npm registry. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../.everloop/nodes', import.meta.url));

/** The major version of npm that a major version of Node comes with. */
const NPM_OF: ReadonlyMap<number, number> = new Map([
  [20, 10],
  [22, 10],
  [24, 11],
]);

/** A Node that is installed beside this one. */
export interface InstalledNode {
  readonly major: number;
  /** `v22.23.3` */
  readonly version: string;
  /** Its file. */
  readonly bin: string;
  /** An environment in which `node`, `npm` and `npx` are its own. */
  readonly env: NodeJS.ProcessEnv;
}

/** Installs the newest Node of a major version, or takes the one that is there. */
export function installNode(major: number): InstalledNode {
  const folder = join(FOLDER, String(major));
  mkdirSync(folder, { recursive: true });
  const npm = NPM_OF.get(major) ?? 'latest';
  const dependencies = { node: String(major), npm: String(npm) };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  const programs = join(folder, 'node_modules', '.bin');
  const bin = join(folder, 'node_modules', 'node', 'bin', 'node');
  return {
    major,
    version: execFileSync(bin, ['--version'], { encoding: 'utf8' }).trim(),
    bin,
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}` },
  };
}
