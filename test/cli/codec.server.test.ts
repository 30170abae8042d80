/**
 * What Temporal's own tools show of encrypted runs: the web UI of `everloop dev`, whose requests are
 * sent again as it sends them, and `temporal` itself.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import { isPlainObject } from '../../src/core/base/json.ts';
import { findFreePort } from '../../src/worker/server/server-probe.ts';
import { fetchTemporalCli } from '../../src/worker/server/temporal-cli.ts';
import { servingProgram } from '../support/builds.ts';
import { shareBundle } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

const INDEX = pathToFileURL(fileURLToPath(new URL('../../src/index.ts', import.meta.url))).href;
const AGENTS = `
import { defineAgent } from '${INDEX}';
let calls = 0;
const model = async () => {
  calls += 1;
  if (calls === 1) throw new Error('camphor in a failure');
  return 'verbena in a reply';
};
export const agents = [defineAgent({ name: 'quick', model })];
`;
const KEY = `k1=${Buffer.alloc(32, 1).toString('base64')}`;

let folder = '';
let dev: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-codec-'));
  await writeFile(join(folder, 'agents.ts'), AGENTS);
  await symlink(CLI_FOLDER, join(folder, 'bin'));
  await shareBundle(folder);
});
afterAll(async () => {
  dev?.kill('SIGTERM');
  if (dev?.exitCode === null) await once(dev, 'exit');
  await rm(folder, { recursive: true, force: true });
});

it('shows encrypted runs in the web UI of dev, and in the Temporal CLI', async () => {
  const port = await findFreePort('127.0.0.1');
  const blobs = `dir:${join(folder, 'blobs')}`;
  const env = { PATH: '', EVERLOOP_DATA_DIR: folder, EVERLOOP_KEYS: KEY, EVERLOOP_BLOBS: blobs };
  const args = ['dev', '--port', String(port), '--ui-port', 'free'];
  dev = spawn(process.execPath, [...servingProgram(), ...args], {
    cwd: folder,
    env: { ...env, EVERLOOP_LOG_LEVEL: 'ERROR' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  dev.stderr?.on('data', (data: Buffer) => (said += data.toString()));
  const ended = once(dev, 'exit').then(() => Promise.reject(new Error(said)));
  await Promise.race([ended, eventually('dev to be ready', () => said.includes('Ready.'))]);
  ended.catch(() => undefined);
  const urlOf = (name: string): string =>
    new RegExp(`${name} +(http://127.0.0.1:\\d+) `).exec(said)?.[1] ?? 'none';
  const [ui, codec] = [urlOf('web UI'), urlOf('codec server')];
  expect(said).toContain(`${codec} (any program on this machine can decrypt through it)`);
  const taskQueue = /task queue +(\S+)/.exec(said)?.[1] ?? 'none';
  const address = `127.0.0.1:${port}`;
  const everloop = await connect({ address, taskQueue, env });
  const context = { document: `vetiver ${'x'.repeat(400_000)}` };
  const run = await everloop.start('quick', { task: 'myrrh in a task', context });
  expect(await run.result()).toMatchObject({ value: 'verbena in a reply' });
  await everloop.close();

  // The web UI is told of the codec server, and sends it the payloads of the history that it shows.
  const settings: unknown = await (await fetch(`${ui}/api/v1/settings`)).json();
  expect(settings).toMatchObject({ Codec: { Endpoint: codec } });
  const path = `/api/v1/namespaces/default/workflows/${run.id}/history`;
  const history: unknown = await (await fetch(`${ui}${path}?waitNewEvent=false`)).json();
  expect(SECRETS.filter((secret) => bytesIn(history).includes(secret))).toEqual([]);
  const payloads = payloadsIn(history);
  const asUi = async (transform: string): Promise<Response> =>
    fetch(`${codec}/${transform}?preserveStorageRefs=true`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Namespace': 'default', Origin: ui },
      body: JSON.stringify({
        payloads: transform === 'download' ? payloads.filter(isReference) : payloads,
      }),
    });
  const decoded = await asUi('decode');
  expect(decoded.headers.get('access-control-allow-origin')).toBe(ui);
  const shown: unknown = await decoded.json();
  expect(SECRETS.filter((secret) => !bytesIn(shown).includes(secret))).toEqual(['vetiver']);
  expect(payloadsIn(shown)).toHaveLength(payloads.length);
  // The start lies in the blob store, which the UI asks for when a person does.
  expect(bytesIn(await (await asUi('download')).json())).toContain('vetiver');

  const show = async (...more: readonly string[]): Promise<string> => {
    const program = await fetchTemporalCli({ folder: CLI_FOLDER });
    const options = ['--address', address, '--workflow-id', run.id, '--output', 'json', ...more];
    const { stdout } = await promisify(execFile)(program, ['workflow', 'show', ...options], {
      maxBuffer: 50_000_000,
    });
    return bytesIn(JSON.parse(stdout));
  };
  const [hidden, open] = [await show(), await show('--codec-endpoint', codec)];
  expect(SECRETS.filter((secret) => hidden.includes(secret))).toEqual([]);
  expect(SECRETS.filter((secret) => !open.includes(secret))).toEqual([]);
});

const SECRETS = ['myrrh', 'vetiver', 'verbena', 'camphor'];

/** All payloads of a JSON document, wherever they are. */
function payloadsIn(value: unknown): readonly object[] {
  if (Array.isArray(value)) return value.flatMap(payloadsIn);
  if (!isPlainObject(value)) return [];
  const { metadata, data } = value;
  if (isPlainObject(metadata) && 'encoding' in metadata && typeof data === 'string') return [value];
  return Object.values(value).flatMap(payloadsIn);
}

function isReference(payload: object): boolean {
  return 'externalPayloads' in payload;
}

/** The document, and the data of its payloads as text. */
function bytesIn(value: unknown): string {
  const data = payloadsIn(value).map((payload) =>
    Buffer.from((payload as { readonly data: string }).data, 'base64').toString(),
  );
  return JSON.stringify(value) + data.join('\n');
}
