import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardedThread } from '../../src/worker/threads/guarded-thread.ts';

/** How the SDK enters its sandbox: three times for each activation, each with a limit. */
const SDK = `
const vm = require('node:vm');
const context = vm.createContext({ Date, __EVERLOOP_WORK__: 'program 57' });
const enter = (ms) => new vm.Script('for (const end = Date.now() + ' + ms + '; Date.now() < end; );')
  .runInContext(context, { timeout: 1000, displayErrors: true });
class BaseVMWorkflow {
  constructor() {
    this.context = context;
    this.activator = { info: { runId: 'run-1' }, errorToFailure: (error) => error.message };
  }
  async activate(entries) {
    try {
      for (const ms of entries) enter(ms);
      await new Promise(setImmediate);
      return { successful: entries.length };
    } catch (error) {
      return { failed: { failure: 'the SDK: ' + error.message } };
    }
  }
}
module.exports = { BaseVMWorkflow, enter };`;

const thread = (module: string): string => `
const { BaseVMWorkflow, enter } = require('./${module}');
const { parentPort } = require('node:worker_threads');
enter(0);
const workflow = new BaseVMWorkflow();
parentPort.on('message', async (entries) => parentPort.postMessage(await workflow.activate(entries)));`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guarded-'));
  await writeFile(join(folder, 'vm-shared.js'), SDK);
  await writeFile(join(folder, 'thread.js'), thread('vm-shared.js'));
  await writeFile(join(folder, 'other.js'), SDK.replace('timeout: 1000', 'timeout: 2500'));
  await writeFile(join(folder, 'of-other.js'), thread('other.js'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the activations of these entries, one after another, come to. */
async function activate(
  file: string,
  ...activations: readonly (readonly number[])[]
): Promise<readonly unknown[]> {
  const worker = new Worker(guardedThread(join(folder, file)));
  const completions: unknown[] = [];
  try {
    for (const entries of activations) {
      worker.postMessage(entries);
      const [completion] = (await once(worker, 'message')) as readonly unknown[];
      completions.push(completion);
    }
  } finally {
    await worker.terminate();
  }
  return completions;
}

describe('a guarded workflow thread', () => {
  it('cuts off an activation whose entries together take too long, and goes on', async () => {
    const [short, long, next] = await activate('thread.js', [0, 0, 0], [400, 400, 400], [0]);
    expect(short).toEqual({ successful: 3 });
    expect(long).toEqual({
      runId: 'run-1',
      failed: { failure: 'Script execution timed out after 1000ms [program 57]' },
    });
    expect(next).toEqual({ successful: 1 });
  });

  it('cuts off a single entry that never ends', async () => {
    const [cut, next] = await activate('thread.js', [60_000], [0, 0]);
    expect(cut).toMatchObject({ failed: { failure: expect.stringContaining('[program 57]') } });
    expect(next).toEqual({ successful: 2 });
  });

  it('leaves the SDK its own limits where its insides differ', async () => {
    // Twice what the guard would leave an activation.
    const completions = await activate('of-other.js', [700, 700, 700], [60_000]);
    expect(completions).toEqual([
      { successful: 3 },
      { failed: { failure: 'the SDK: Script execution timed out after 2500ms [program 57]' } },
    ]);
  });
});
