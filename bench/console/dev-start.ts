/** What the console adds to `everloop dev`: time until it is ready, and memory. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { figure, median, type Figure } from '../support/figure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAIRS = 7;
const SETTLED_MS = 1_500;

const AGENTS = `import { defineAgent } from 'everloop';

export const agents = [defineAgent({ name: 'clerk', model: async () => 'done' })];
`;

/** Of the built program, as users start it, in a folder that has started it before. */
export async function devStart(): Promise<readonly Figure[]> {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('Expected a build, got an error.');
  const folder = await mkdtemp(join(tmpdir(), 'everloop-bench-dev-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(ROOT, join(folder, 'node_modules', 'everloop'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  try {
    await startOnce(folder, true);
    const pairs: { readonly ms: number; readonly mb: number; readonly bareMs: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const isFirst = pair % 2 === 0;
      const one = await startOnce(folder, isFirst);
      const other = await startOnce(folder, !isFirst);
      const [own, bare] = isFirst ? [one, other] : [other, one];
      pairs.push({ ms: own.ms - bare.ms, mb: own.mb - bare.mb, bareMs: bare.ms });
    }
    const bareMs = median(pairs.map((pair) => pair.bareMs));
    return [
      figure('dev_start_added_ms', median(pairs.map(({ ms }) => ms)), 'ms', '<= 150', bareMs),
      figure('dev_added_mb', median(pairs.map(({ mb }) => mb)), 'MB', '<= 25'),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Start {
  readonly ms: number;
  /** What the process keeps; NaN where the system does not say. */
  readonly mb: number;
}

async function startOnce(folder: string, hasConsole: boolean): Promise<Start> {
  const program = join(ROOT, 'dist', 'cli', 'main.js');
  const args = [program, 'dev', '--port', 'free', ...(hasConsole ? [] : ['--no-console'])];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', EVERLOOP_DATA_DIR: join(folder, '.everloop') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  try {
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.startsWith('Ready.')) break;
    }
    const ms = performance.now() - startedAt;
    if (child.exitCode !== null) throw new Error('Expected `everloop dev` to be ready.');
    await sleep(SETTLED_MS);
    return { ms, mb: await residentMb(child.pid ?? 0) };
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

async function residentMb(pid: number): Promise<number> {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return Number.NaN;
  const kb = /VmRSS:\s+(\d+) kB/.exec(await readFile(file, 'utf8'))?.[1];
  return Number(kb) / 1_024;
}
