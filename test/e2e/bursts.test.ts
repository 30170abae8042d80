/** Many messages at once, and runs that the service closed: what a client says of them. */
import { Client, Connection } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEverloop } from '../../src/client/everloop-client.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { inputSignal } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** The service's own number of updates in flight, and far fewer signals than it allows. */
const SETTINGS = {
  'history.maxInFlightUpdates': 10,
  'history.maximumSignalsPerExecution': 20,
};

let server: TestServer;
let stage: Stage;
let served: Served;
beforeAll(async () => {
  server = await startTestServer({ dynamicConfig: SETTINGS });
  stage = await openStage(server);
  const stuck = defineAgent({
    name: 'stuck',
    mode: 'react',
    limits: 'unlimited',
    model: {
      id: 'm',
      model: (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    },
  });
  served = await stage.serve([stuck]);
});
afterAll(async () => {
  await stage.close();
  await server.stop();
});

async function started(): Promise<RunHandle> {
  const run = await served.everloop.start('stuck', { task: 'Wait.' });
  await eventually('the run to ask its model', async () => {
    const { waitsFor } = await run.status();
    return waitsFor.some((one) => one.startsWith('model'));
  });
  return run;
}

/** Refusals after which a message may be sent again. */
const AGAIN = ['run_busy', 'service_unavailable'];

/** Sends a message, again under its id if others kept it out, until the run says its position. */
async function sentOnce(run: RunHandle, text: string): Promise<number> {
  const id = randomUUID();
  for (;;) {
    const position = await run.send(text, { id }).catch((error: unknown) => {
      if (isUsageError(error) && AGAIN.includes(error.code)) return null;
      throw error;
    });
    if (position !== null) return position;
  }
}

describe('messages', () => {
  it.runIf(RUNS_ALL)('[R14] of 300 sends at once by two clients, all are accepted', async () => {
    const run = await started();
    const connection = await Connection.connect({ address: stage.address });
    const other = createEverloop({
      client: new Client({ connection, namespace: stage.namespace }),
      taskQueue: served.taskQueue,
    }).attach(run.id);

    const sends = Array.from({ length: 300 }, (_, index) =>
      sentOnce(index % 2 === 0 ? run : other, `message ${index}`),
    );
    const positions = await Promise.all(sends);

    expect(positions.toSorted((a, b) => a - b)).toEqual(sends.map((_, index) => index + 1));
    expect(await run.status()).toMatchObject({ unreadInputs: 300 });
    await run.cancel();
    expect(await run.result()).toMatchObject({ status: 'canceled' });
    await connection.close();
  });

  it('[R14] a run that has all signals it may have is still canceled', async () => {
    const run = await started();
    const handle = stage.client.workflow.getHandle(run.id);
    for (let index = 0; index < 20; index++) {
      await handle.signal(inputSignal, { id: `i${index}`, kind: 'queue', text: 'more' });
    }
    await expect(
      handle.signal(inputSignal, { id: 'last', kind: 'queue', text: 'more' }),
    ).rejects.toThrow();

    await run.cancel('enough');

    expect(await run.result()).toMatchObject({
      status: 'canceled',
      message: 'canceled through the service',
    });
  });
});

describe('a run that the service closed', () => {
  it('[R12] is not running: it was terminated', async () => {
    const run = await started();
    await stage.client.workflow.getHandle(run.id).terminate('by an operator');

    const status = await run.status();

    expect(status).toMatchObject({ state: 'ended', closed: 'terminated', waitsFor: [] });
    expect(status.step).toBeUndefined();
    await expect(run.result()).rejects.toMatchObject({ code: 'no_step' });
  });

  it('[R12] is not running: it timed out', async () => {
    const workflowId = `timed-out-${randomUUID()}`;
    await stage.client.workflow.start(AGENT_WORKFLOW, {
      workflowId,
      taskQueue: served.taskQueue,
      args: [{ v: 1, agent: 'stuck', task: { text: 'Wait.' } }],
      workflowRunTimeout: '2s',
    });
    const run = served.everloop.attach(workflowId);
    await expect(run.result()).rejects.toMatchObject({ code: 'no_step' });

    expect(await run.status()).toMatchObject({ state: 'ended', closed: 'timed_out' });
  });

  it('[R12] says how it ended as long as it did so by itself', async () => {
    const run = await started();
    await run.cancel('enough');
    await run.result();

    const status = await run.status();

    expect(status).toMatchObject({ state: 'ended', step: { status: 'canceled' } });
    expect(status.closed).toBeUndefined();
  });
});
