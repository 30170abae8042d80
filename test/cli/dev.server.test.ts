/** `everloop dev` keeps its server running. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { findFreePort } from '../../src/worker/server/server-probe.ts';
import { servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INDEX = pathToFileURL(join(ROOT, 'src/index.ts')).href;
const AGENTS = `
import { defineAgent } from '${INDEX}';
export const agents = [defineAgent({ name: 'quick', model: async () => 'done' })];
`;

let folder = '';
let dev: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-dev-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await symlink(CLI_FOLDER, join(folder, 'bin'));
  await shareBundle(folder);
});
afterAll(async () => {
  if (dev?.exitCode === null) {
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

async function serverPid(): Promise<number | undefined> {
  const note = await readFile(join(folder, 'server.json'), 'utf8').catch(() => undefined);
  return note === undefined ? undefined : (JSON.parse(note) as { readonly pid: number }).pid;
}

it('[R15] dev starts its server again when that is killed, and serves on', async () => {
  const port = await findFreePort('127.0.0.1');
  const said: string[] = [];
  dev = spawn(
    process.execPath,
    [...servingProgram(), 'dev', '--port', String(port), '--ui-port', 'free'],
    {
      cwd: folder,
      env: { PATH: '', EVERLOOP_DATA_DIR: folder, EVERLOOP_LOG_LEVEL: 'ERROR' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  dev.stderr?.on('data', (data: Buffer) => said.push(data.toString()));
  const first = await eventually('dev to be ready', async () => {
    return said.join('').includes('Ready.') ? await serverPid() : undefined;
  });
  const everloop = await connect({ address: `127.0.0.1:${port}`, env: {} });
  const before = await everloop.start('quick', { task: 'Go' });
  expect(await before.result()).toMatchObject({ value: 'done' });

  process.kill(first, 'SIGKILL');
  await eventually('another server', async () => {
    const pid = await serverPid();
    return pid !== undefined && pid !== first;
  });
  await eventually('dev to say so', () => said.join('').includes('runs again at'));

  const after = await eventually('a start', () =>
    everloop.start('quick', { task: 'Go' }).catch(() => undefined),
  );
  expect(await after.result()).toMatchObject({ value: 'done' });
  // The database is the same.
  expect(await before.result()).toMatchObject({ value: 'done' });
  await everloop.close();
});
