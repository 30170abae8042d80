import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import workerThreads from 'node:worker_threads';
import { expect, it } from 'vitest';
import { guardWorkflowThreads } from '../../src/worker/threads/guard-workflow-threads.ts';

it('leaves the threads of users alone, whatever their messages look like', async () => {
  const before = workerThreads.Worker;
  guardWorkflowThreads();
  const echo = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', (message) => parentPort.postMessage(message));`;
  const thread = new workerThreads.Worker(echo, { eval: true });
  try {
    for (const message of [{ requestId: 1n, input: null }, null, 'text']) {
      thread.postMessage(message);
      expect(await once(thread, 'message')).toEqual([message]);
    }
  } finally {
    await thread.terminate();
    workerThreads.Worker = before;
  }
});

/** A workflow whose activation calls a sink twice, as the SDK keeps such calls. */
const SDK = `
const info = { runId: 'run-1', unsafe: { isReplaying: false, now: Date.now, random: Math.random } };
class BaseVMWorkflow {
  async activate(entries) {
    this.calls = entries.map((args) => ({ ifaceName: 'events', fnName: 'publish', args, workflowInfo: info }));
    return { successful: {} };
  }
  async getAndResetSinkCalls() {
    const { calls } = this;
    this.calls = [];
    return calls;
  }
}
module.exports = { BaseVMWorkflow };`;

/** The SDK's thread: what it is asked for reaches it, unless the guard answers. */
const THREAD = `
const { BaseVMWorkflow } = require('./vm-shared.js');
const { parentPort } = require('node:worker_threads');
const workflow = new BaseVMWorkflow();
parentPort.on('message', async ({ requestId, input }) => {
  const output =
    input.type === 'activate-workflow'
      ? { type: 'activation-completion', completion: await workflow.activate(input.activation) }
      : { type: 'sink-calls', calls: 'asked of the thread' };
  parentPort.postMessage({ requestId, result: { type: 'ok', output } });
});`;

it('hands out the calls of sinks that came with a completion, once, without the thread', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-'));
  await writeFile(join(folder, 'vm-shared.js'), SDK);
  await writeFile(join(folder, 'workflow-worker-thread.js'), THREAD);
  const before = workerThreads.Worker;
  guardWorkflowThreads();
  const thread = new workerThreads.Worker(join(folder, 'workflow-worker-thread.js'));
  const ask = async (requestId: bigint, input: object): Promise<unknown> => {
    const answer = once(thread, 'message');
    thread.postMessage({ requestId, input });
    return ((await answer) as readonly unknown[])[0];
  };
  const question = { type: 'extract-sink-calls', runId: 'run-1' };
  const activation = { type: 'activate-workflow', runId: 'run-1', activation: [[1], [2]] };
  const answerTo = (requestId: bigint, output: object): object => ({
    requestId,
    result: { type: 'ok', output },
  });
  const call = {
    ifaceName: 'events',
    fnName: 'publish',
    workflowInfo: { runId: 'run-1', unsafe: { isReplaying: false } },
  };
  try {
    const completed = { type: 'activation-completion', completion: { successful: {} } };
    expect(await ask(1n, activation)).toEqual(answerTo(1n, completed));
    // Another run's question is the thread's.
    const ofThread = { type: 'sink-calls', calls: 'asked of the thread' };
    expect(await ask(2n, { ...question, runId: 'run-2' })).toEqual(answerTo(2n, ofThread));
    const calls = [
      { ...call, args: [1] },
      { ...call, args: [2] },
    ];
    expect(await ask(3n, question)).toEqual(answerTo(3n, { type: 'sink-calls', calls }));
    expect(await ask(4n, question)).toEqual(answerTo(4n, ofThread));
    // Calls of a run that left the cache are forgotten.
    await ask(5n, activation);
    await ask(6n, { type: 'dispose-workflow', runId: 'run-1' });
    expect(await ask(7n, question)).toEqual(answerTo(7n, ofThread));
  } finally {
    await thread.terminate();
    workerThreads.Worker = before;
    await rm(folder, { recursive: true, force: true });
  }
});
