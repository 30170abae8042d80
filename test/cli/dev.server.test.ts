/** `everloop dev` keeps its server running, and shares it without mixing the work of folders. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { findFreePort } from '../../src/worker/server/server-probe.ts';
import { servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INDEX = pathToFileURL(join(ROOT, 'src/index.ts')).href;
const AGENTS = `
import { defineAgent } from '${INDEX}';
export const agents = [defineAgent({ name: 'quick', model: async () => 'done' })];
`;

let folder = '';
const devs: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-dev-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await symlink(CLI_FOLDER, join(folder, 'bin'));
  await shareBundle(folder);
});
afterAll(async () => {
  // The first one stops the server, which the others use.
  for (const dev of devs.toReversed().filter(({ exitCode }) => exitCode === null)) {
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

async function serverPid(): Promise<number | undefined> {
  const note = await readFile(join(folder, 'server.json'), 'utf8').catch(() => undefined);
  return note === undefined ? undefined : (JSON.parse(note) as { readonly pid: number }).pid;
}

/** Starts `dev` for a folder; what it says grows. */
function startDev(dataDir: string, port: number): { readonly said: () => string } {
  const dev = spawn(process.execPath, [...servingProgram(), 'dev', '--port', String(port)], {
    cwd: folder,
    env: { PATH: '', EVERLOOP_DATA_DIR: dataDir, EVERLOOP_LOG_LEVEL: 'ERROR' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  devs.push(dev);
  const said: string[] = [];
  dev.stderr.on('data', (data: Buffer) => said.push(data.toString()));
  return { said: () => said.join('') };
}

function queueIn(said: string): string {
  return /task queue +(\S+)/.exec(said)?.[1] ?? 'none';
}

it.runIf(RUNS_ALL)(
  '[R15] dev starts its server again when that is killed, and serves on',
  async () => {
    const port = await findFreePort('127.0.0.1');
    const { said } = startDev(folder, port);
    const first = await eventually('dev to be ready', async () => {
      return said().includes('Ready.') ? await serverPid() : undefined;
    });
    const taskQueue = queueIn(said());
    const everloop = await connect({ address: `127.0.0.1:${port}`, taskQueue, env: {} });
    const before = await everloop.start('quick', { task: 'Go' });
    expect(await before.result()).toMatchObject({ value: 'done' });

    process.kill(first, 'SIGKILL');
    await eventually('another server', async () => {
      const pid = await serverPid();
      return pid !== undefined && pid !== first;
    });
    await eventually('dev to say so', () => said().includes('runs again at'));

    const after = await eventually('a start', () =>
      everloop.start('quick', { task: 'Go' }).catch(() => undefined),
    );
    expect(await after.result()).toMatchObject({ value: 'done' });
    // The database is the same.
    expect(await before.result()).toMatchObject({ value: 'done' });
    // No web page can reach a UI that is not there.
    expect(await readFile(join(folder, 'server.json'), 'utf8')).not.toContain('uiUrl');
    await everloop.close();

    const folder2 = join(folder, 'second');
    await mkdir(folder2);
    await shareBundle(folder2);
    const second = startDev(folder2, port);
    await eventually('dev of another folder', () => second.said().includes('Ready.'));
    expect(second.said()).toContain(
      `Uses the Temporal server at 127.0.0.1:${port}, which something else started`,
    );
    expect(queueIn(second.said())).not.toBe(taskQueue);
  },
);
