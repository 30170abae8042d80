import { once } from 'node:events';
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
