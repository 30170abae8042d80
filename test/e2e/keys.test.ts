/** Keys that rotate, belong to tenants, are lost and come back, with workers that are processes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import type { ProtectionOptions } from '../../src/protection/protection.ts';
import { MESSAGE_NAMES } from '../../src/core/contract/messages.ts';
import { doctorService } from '../../src/doctor/service.ts';
import { archiveDirOf } from '../../src/worker/config/config-of.ts';
import { keysInUse } from '../../src/worker/retention/keys-in-use.ts';
import { found, world } from '../doctor/world.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startWorkerCommand, type RunningCommand } from '../support/worker-command.ts';

const KEYS = { k1: randomBytes(32), k2: randomBytes(32), acme: randomBytes(32) };
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
  it('outlives a rotation and a lost key, and waits visibly', async () => {
    const taskQueue = `keys-${randomUUID()}`;
    const first = await serve(taskQueue, ['k1']);
    const client = await clientWith(taskQueue, ['k1']);
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
    for (const who of [client, blind, await clientWith(taskQueue, ['k2'])]) {
      console.log('STATUS', await who.attach(run.id).status().catch((e) => [e.code, e.message]));
    }
    console.log('DOCTOR', await failingRuns(run));
    await keyless.stop();

    // The key is back, after a new one: the run goes on, and writes under the new one.
    const wrong = await serve(taskQueue, ['k2']);
    await eventually('a line about the key', () => wrong.said().includes(MISSING_K1));
    for (const who of [client, blind, await clientWith(taskQueue, ['k2'])]) {
      console.log('STATUS2', await who.attach(run.id).status().catch((e) => [e.code, e.message]));
    }
    console.log('DOCTOR2', await failingRuns(run));
    await wrong.stop();
    await serve(taskQueue, ['k2', 'k1']);
    console.log('INUSE', await inUse());
    const both = await clientWith(taskQueue, ['k2', 'k1']);
    await both.attach(run.id).answer('q1', 'blue');
    expect(await both.attach(run.id).result()).toMatchObject({ value: 'answered' });
    await expect(run.result()).rejects.toMatchObject({
      code: 'key_missing',
      message: `Expected key \`k2\` to read run \`${run.id}\`, got keys (k1). Set EVERLOOP_KEYS.`,
    });
  });

  it('of a tenant is read by its key alone', async () => {
    const taskQueue = `keys-${randomUUID()}`;
    await serve(taskQueue, ['k1', 'acme']);
    const tenants: ProtectionOptions = {
      keys: ringOf(['k1', 'acme']),
      keyFor: ({ workflowId }) => (workflowId.startsWith('acme:') ? 'acme' : undefined),
    };
    const client = await clientWith(taskQueue, tenants);
    const own = await client.start('asker', { task: 'Ours' });
    const run = await client.start('asker', { task: 'Theirs', id: `acme:${randomUUID()}` });
    await waiting(own);
    await waiting(run);
    const shared = await clientWith(taskQueue, ['k1']);

    expect(await listed(shared, run)).toMatchObject({ agent: '(encrypted)' });
    expect(await listed(shared, own)).toMatchObject({ agent: 'asker', task: 'Ours' });
    await expect(shared.attach(run.id).startedWith()).rejects.toMatchObject({
      code: 'key_missing',
      message: `Expected key \`acme\` to read run \`${run.id}\`, got keys (k1). Set EVERLOOP_KEYS.`,
    });
    await run.answer('q1', 'x');
    await own.answer('q1', 'x');
    expect(await run.result()).toMatchObject({ value: 'answered' });
    expect(await own.result()).toMatchObject({ value: 'answered' });
  });
});

async function failingRuns(run: RunHandle) {
  const service = doctorService(stage.client);
  return (await found('failing-tasks', world({ service }))).filter(({ message }) => message.includes(run.id));
}
async function inUse() {
  const { client, folder } = stage;
  return keysInUse({ client, archiveDir: archiveDirOf(folder), blobs: undefined }, ['k2', 'k1']);
}

const MISSING_K1 = 'A run is encrypted with key k1, which this worker does not have.';

async function serve(
  taskQueue: string,
  names: readonly KeyName[],
  args: readonly string[] = [],
): Promise<RunningCommand> {
  const env: Record<string, string> =
    names.length === 0 ? {} : { EVERLOOP_KEYS: names.map(entryOf).join(',') };
  const command = { agents: 'asking-agents.ts', taskQueue, logLevel: 'WARN', env, args };
  const worker = await startWorkerCommand(stage, command);
  workers.push(worker);
  return worker;
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
