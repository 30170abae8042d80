/** Calls that lose one worker after another. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ToolOrder, ToolResult } from '../../src/core/contract/outcome.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { eventually } from '../support/eventually.ts';
import { poisonAgents } from '../support/fixtures/poison-agents.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { spawnWorkerCommand, type RunningCommand } from '../support/worker-command.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

describe('[R2] a call that ten workers died with', () => {
  const orders: ToolOrder[] = [];

  /** As a worker answers that gets the call after `losses`: it asks for an operator once. */
  async function callTool(order: ToolOrder): Promise<ToolResult> {
    orders.push(order);
    if (order.retriedAfter !== undefined) {
      return { outcome: 'ok', output: 'stored', attempts: 1, started: true };
    }
    const details = [{ losses: 10 }];
    const type = 'operator_needed';
    throw ApplicationFailure.create({ type, message: 'Lost.', nonRetryable: true, details });
  }

  /** A run whose call waits for an operator, on workers that `stop` stops. */
  async function waitingRun(): Promise<{ run: RunHandle; stop: () => Promise<void> }> {
    const { connection, namespace } = stage;
    const toolQueue = `poison-tools-${randomUUID()}`;
    const served = await stage.serve(poisonAgents, { toolQueue, roles: ['workflows', 'models'] });
    const tools = await Worker.create({
      connection,
      namespace,
      taskQueue: toolQueue,
      activities: { callTool },
    });
    const serving = tools.run();
    const run = await served.everloop.start('keeper', { task: 'Go.' });
    await eventually('a wait for an operator', async () =>
      (await run.status()).waitsFor.includes('operator: tool store ended 10 workers'),
    );
    return {
      run,
      stop: async () => {
        tools.shutdown();
        await serving;
        await served.stop();
      },
    };
  }

  it('waits until an operator has it tried again', async () => {
    const { run, stop } = await waitingRun();

    await expect(run.retry('9.9')).rejects.toMatchObject({
      code: 'invalid_input',
      message:
        'Expected the id of a call that waits for an operator; these wait: 1.1. See the status of the run.',
    });
    expect(await run.retry('1.1')).toEqual({ callId: '1.1' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(orders.at(-1)).toMatchObject({ lossesBefore: 10, retriedAfter: 10 });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'ok', output: 'stored', attempts: 1, losses: 10 },
    ]);
    await stage.replay(run);
    await stop();
  });

  it('ends with a cancel, and may have taken effect', async () => {
    const { run, stop } = await waitingRun();
    await run.cancel();

    expect(await run.result()).toMatchObject({
      status: 'canceled',
      unknownCalls: [{ callId: '1.1', tool: 'store' }],
    });
    await stage.replay(run);
    await stop();
  });
});

describe('[R2] a tool that ends its process', () => {
  const taskQueue = `poison-${randomUUID()}`;
  let worker: RunningCommand | undefined;
  let isOver = false;
  let deaths = 0;

  /** A worker with the agent file, and another each time that it dies. */
  function startWorker(): void {
    worker = spawnWorkerCommand(stage, { agents: 'poison-agents.ts', taskQueue });
    worker.process.once('exit', () => {
      if (isOver) return;
      deaths += 1;
      startWorker();
    });
  }
  afterAll(async () => {
    isOver = true;
    await worker?.stop();
  });

  it.runIf(RUNS_ALL)(
    'ends five workers, then only a process of its own',
    async () => {
      startWorker();
      const run = await stage.everloopOf(taskQueue).start('keeper', { task: 'Go.' });

      expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
      expect(deaths).toBe(5);
      expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
        {
          outcome: 'error',
          error: 'Error: the process of store was ended by SIGKILL',
          attempts: 3,
          losses: 5,
        },
      ]);
      await stage.replay(run);
    },
    240_000,
  );
});
