/** Keys that rotate, belong to tenants, are lost and come back, with workers that are processes. */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { addKeyIds } from '../../src/protection/key-ids.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import type { ProtectionOptions } from '../../src/protection/protection.ts';
import { MESSAGE_NAMES } from '../../src/core/contract/messages.ts';
import { clientOf } from '../../src/client/connection/open-connection.ts';
import { readTaskFailure } from '../../src/client/connection/newest-events.ts';
import type { DoctorFinding } from '../../src/doctor/run-doctor.ts';
import { doctorService } from '../../src/doctor/service.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { archiveDirOf } from '../../src/client/reading/archive-reader.ts';
import { keysInUse, type KeyUse } from '../../src/worker/retention/keys-in-use.ts';
import { found, world } from '../doctor/world.ts';
import { cli } from '../cli/cli-fixture.ts';
import { servingProgram } from '../support/builds.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { storedRuns, type StoredRuns } from '../support/stored-bytes.ts';
import { startWorkerCommand, type RunningCommand } from '../support/worker-command.ts';

const KEYS = { kr1: randomBytes(32), kr2: randomBytes(32), acme: randomBytes(32) };
type KeyName = keyof typeof KEYS;

let stage: Stage;
const workers: RunningCommand[] = [];
const clients: ConnectedEverloop[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  for (const client of clients) await client.close();
  await stage?.close();
});

describe('[protection] a run with keys, on workers that are processes', () => {
  it.runIf(RUNS_ALL)('outlives a rotation and a lost key, and waits visibly', async () => {
    const taskQueue = `keys-${randomUUID()}`;
    const first = await serve(taskQueue, ['kr1']);
    const client = await clientWith(taskQueue, ['kr1']);
    const run = await client.start('asker', { task: 'Ask' });
    await waiting(run);
    await first.stop();

    // Without the key: the run waits, which the worker says once and a client sees.
    const keyless = await serve(taskQueue, [], ['--allow-unencrypted']);
    const blind = await clientWith(taskQueue, []);
    expect(await listed(blind, run)).toMatchObject({ agent: '(encrypted)', task: '' });
    expect(await listed(client, run)).toMatchObject({ agent: 'asker', task: 'Ask' });
    await stage.client.workflow.getHandle(run.id).signal(MESSAGE_NAMES.nudge);
    await eventually('a line about the key', () => keyless.said().includes(MISSING_K1));
    expect(keyless.said().split(MISSING_K1)).toHaveLength(2);
    await expect(blind.attach(run.id).status()).rejects.toMatchObject({
      code: 'keys_missing',
      message: expect.stringContaining('Expected key `kr1`') as string,
    });
    expect(await failingRuns(run.id)).toMatchObject([
      { message: expect.stringContaining(REFUSED_K1) as string, advice: GIVE_THE_KEY },
    ]);
    await keyless.stop();

    // The key is back, after a new one: the run goes on, and writes under the new one.
    await serve(taskQueue, ['kr2', 'kr1']);
    expect(await inUse()).toEqual([unused('kr1', { openRuns: 1 }), unused('kr2')]);
    const both = await clientWith(taskQueue, ['kr2', 'kr1']);
    // Its task failed a moment ago, so the service waits before it gives it to the new worker.
    await eventually('the run to go on', () =>
      both
        .attach(run.id)
        .send('A note under the new key.', { id: 'note' })
        .then(
          // Null: it is left with the service until the worker takes it.
          (position) => position !== null,
          () => false,
        ),
    );
    expect(await inUse()).toEqual([unused('kr1', { openRuns: 1 }), unused('kr2', { openRuns: 1 })]);
    await both.attach(run.id).answer('q1', 'blue');
    expect(await both.attach(run.id).result()).toMatchObject({ value: 'answered' });
    await eventually('no open run', async () =>
      (await inUse()).every(({ openRuns }) => openRuns === 0),
    );
    const { stdout } = await cli(['keys', 'in-use'], { env: envOf(['kr2', 'kr1']) });
    const lines = stdout
      .split('\n')
      .filter((line) => !/^(?!kr[12] )\S+ +\d/.test(line) && !line.startsWith('(not'));
    expect(lines).toEqual([
      expect.stringMatching(/^key +open runs +archived lines +blobs$/),
      expect.stringMatching(/^kr1 +0 +0 +0$/),
      // The archive has what the run wrote as it ended.
      expect.stringMatching(/^kr2 +0 +\d+ +0$/),
      '',
      'Nothing open needs kr1. Ended runs that it has encrypted cannot be read without it.',
      '',
    ]);
    await expect(run.result()).rejects.toMatchObject({
      code: 'keys_missing',
      message: `Expected key \`kr2\` to read run \`${run.id}\`, got keys (kr1). Set EVERLOOP_KEYS.`,
    });
  });

  it.runIf(RUNS_ALL)(
    'says which key a worker with other keys lacks, to who may read it',
    async () => {
      const taskQueue = `keys-${randomUUID()}`;
      await serve(taskQueue, ['kr2']);
      const run = await (await clientWith(taskQueue, ['kr1'])).start('asker', { task: 'Ask' });
      const { connection } = stage.client;
      const reason = (names: readonly KeyName[]): Promise<string | null> => {
        const protection = protectionOf({ keys: ringOf(names) });
        return readTaskFailure(clientOf(connection, stage.namespace, protection), run.id);
      };

      await eventually('a failed task', async () => (await reason(['kr2'])) !== null);
      expect(await reason(['kr2'])).toBe(REFUSED_K1);
      expect(await reason(['kr1'])).toBe(
        'Expected key `kr2` to read why, got keys (kr1). Set EVERLOOP_KEYS.',
      );
      await stage.client.workflow.getHandle(run.id).terminate();
    },
  );

  it('of a tenant is written and read under its key alone, by all that has the rule', async () => {
    const taskQueue = `keys-${randomUUID()}`;
    const rule = { EVERLOOP_KEY_FOR: 'tenant' };
    await serve(taskQueue, ['kr1', 'acme'], [], rule);
    const tenants: ProtectionOptions = { keys: ringOf(['kr1', 'acme']), keyFor: 'tenant' };
    const client = await clientWith(taskQueue, tenants);
    // Its callbacks go nowhere, so that their delivery is still there when the run has ended.
    const onEvent = { url: 'http://127.0.0.1:9/' };
    const id = `acme:${randomUUID()}`;
    const run = await client.start('lead', { task: 'Theirs', id, tenant: 'acme', onEvent });
    const child = client.attach(await childOf(taskQueue, run));
    await waiting(child);
    const shared = await clientWith(taskQueue, ['kr1']);

    expect(await listed(shared, run)).toMatchObject({ agent: '(encrypted)' });
    await expect(shared.attach(run.id).startedWith()).rejects.toMatchObject({
      code: 'keys_missing',
      message: `Expected key \`acme\` to read run \`${run.id}\`, got keys (kr1). Set EVERLOOP_KEYS.`,
    });
    const env = { ...envOf(['kr1', 'acme']), ...rule };
    await promisify(execFile)(
      process.execPath,
      [...servingProgram(), 'answer', child.id, 'q1', 'x'],
      { cwd: stage.folder, env },
    );
    expect(await run.result()).toMatchObject({ value: 'led' });
    const { messages } = await stored(taskQueue);
    const ids = new Set<string>();
    addKeyIds(messages, ids);
    expect([...ids]).toEqual(['acme']);

    const own = await client.start('asker', { task: 'Ours' });
    await waiting(own);
    expect(await listed(shared, own)).toMatchObject({ agent: 'asker', task: 'Ours' });
    await own.answer('q1', 'x');
    expect(await own.result()).toMatchObject({ value: 'answered' });
  });
});

function stored(taskQueue: string): Promise<StoredRuns> {
  return storedRuns(stage.client.connection, stage.namespace, taskQueue);
}

/** The id of the child of `run`, once lists have it and the workflow that delivers callbacks. */
async function childOf(taskQueue: string, run: RunHandle): Promise<string> {
  let found: readonly string[] = [];
  await eventually('a child and a delivery in the list', async () => {
    const query = `TaskQueue = '${taskQueue}'`;
    const { executions } = await stage.client.workflowService.listWorkflowExecutions({
      namespace: stage.namespace,
      query,
    });
    found = executions.map(({ execution }) => execution?.workflowId ?? '');
    return found.length >= 3;
  });
  expect(found.filter((id) => !id.startsWith('acme:'))).toEqual([]);
  return found.find((id) => id.startsWith(run.id) && id !== run.id) ?? '';
}

async function failingRuns(id: string): Promise<readonly DoctorFinding[]> {
  const service = doctorService(stage.client);
  const findings = await found('failing-tasks', world({ service }));
  return findings.filter(({ message }) => message.includes(id));
}

async function inUse(): Promise<readonly KeyUse[]> {
  const { client, folder } = stage;
  const places = { client, archiveDir: archiveDirOf(folder), blobs: undefined };
  // Other files have runs in the same namespace.
  return (await keysInUse(places, ['kr2', 'kr1'])).filter(({ id }) => id === 'kr1' || id === 'kr2');
}

const unused = (id: string, used: Partial<KeyUse> = {}): KeyUse => ({
  id,
  openRuns: 0,
  archivedLines: 0,
  blobs: 0,
  ...used,
});

const REFUSED_K1 =
  'Refused: the start is encrypted with key kr1, which this worker does not have. A worker that has it takes the run.';
const GIVE_THE_KEY =
  'Give its workers the key, or this command if only it lacks it: EVERLOOP_KEYS. `everloop cancel RUN --force` ends it.';

const MISSING_K1 =
  'A run is encrypted with key kr1, which this worker does not have. Give it EVERLOOP_KEYS.';

async function serve(
  taskQueue: string,
  names: readonly KeyName[],
  args: readonly string[] = [],
  rule: Readonly<Record<string, string>> = {},
): Promise<RunningCommand> {
  const keys = names.length === 0 ? {} : { EVERLOOP_KEYS: names.map(entryOf).join(',') };
  const env: Record<string, string> = { ...keys, ...rule };
  const command = { agents: 'asking-agents.ts', taskQueue, logLevel: 'WARN', env, args };
  const worker = await startWorkerCommand(stage, command);
  workers.push(worker);
  return worker;
}

/** The environment of a command. */
function envOf(names: readonly KeyName[]): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: stage.address,
    TEMPORAL_NAMESPACE: stage.namespace,
    EVERLOOP_DATA_DIR: stage.folder,
    EVERLOOP_KEYS: names.map(entryOf).join(','),
  };
}

function entryOf(name: KeyName): string {
  return `${name}=${KEYS[name].toString('base64')}`;
}

function ringOf([current, ...others]: readonly KeyName[]): ReturnType<typeof keyRing> {
  const names = [current as KeyName, ...others];
  return keyRing({
    current: names[0] as string,
    keys: Object.fromEntries(names.map((name) => [name, KEYS[name]])),
  });
}

async function clientWith(
  taskQueue: string,
  given: readonly KeyName[] | ProtectionOptions,
): Promise<ConnectedEverloop> {
  const protection: ProtectionOptions = Array.isArray(given)
    ? given.length === 0
      ? {}
      : { keys: ringOf(given as readonly KeyName[]) }
    : (given as ProtectionOptions);
  const { address, namespace } = stage;
  const client = await connect({ address, namespace, taskQueue, protection, env: {} });
  clients.push(client);
  return client;
}

async function waiting(run: RunHandle): Promise<void> {
  await eventually('a run that waits', async () => (await run.status()).state === 'waiting');
}

async function listed(client: ConnectedEverloop, run: RunHandle): Promise<unknown> {
  let found: unknown;
  await eventually('the run in the list', async () => {
    found = (await client.list({ idPrefix: run.id }))[0];
    return found !== undefined;
  });
  return found;
}
