/** A workflow task that the SDK cuts off after five seconds costs its own run time, and no other run. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { EARLY_CUT, fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { extentOf, RUNS_ALL } from '../support/extent.ts';
import type { SpinnerWorker } from '../support/fixtures/serve-spinner.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const cutEarly = fixtureProcesses<SpinnerWorker>('serve-spinner', EARLY_CUT);

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await cutEarly.stop();
  await stage?.close();
});

async function serveSpinners(): Promise<{ readonly everloop: Everloop }> {
  const taskQueue = `cut-off-${randomUUID()}`;
  const { address, namespace, folder } = stage;
  const place = { address, namespace, archiveDir: folder, taskQueue };
  await cutEarly.start({ ...place, workflowsPath: TEST_LOOPS });
  return { everloop: stage.everloopOf(taskQueue) };
}

it.runIf(RUNS_ALL)(
  '[L3] a run that computes without end ends neither the worker nor the runs beside it',
  async () => {
    const taskQueue = `cut-off-${randomUUID()}`;
    const { address, namespace, folder } = stage;
    const worker = await cutEarly.start({
      address,
      namespace,
      archiveDir: folder,
      taskQueue,
      workflowsPath: TEST_LOOPS,
    });
    const everloop = stage.everloopOf(taskQueue);
    const spinner = await everloop.start('spinner', { task: 'Compute.' });
    const { client } = stage;
    const failures = async (): Promise<number> => {
      const { events } = await client.workflow.getHandle(spinner.id).fetchHistory();
      return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
    };
    await eventually('a failed workflow task', async () => (await failures()) > 0);

    const beside = [];
    for (let count = 0; count < 3; count++) {
      beside.push((await (await everloop.start('greeter', { task: 'Hello.' })).result()).status);
    }
    expect(beside).toEqual(['success', 'success', 'success']);

    expect(await spinner.result()).toMatchObject({
      status: 'error',
      reason: 'internal',
      message: expect.stringContaining('its worker cut it off three times'),
    });
    expect((await (await everloop.start('greeter', { task: 'Hello.' })).result()).status).toBe(
      'success',
    );
    expect(worker.child.exitCode).toBeNull();
    expect(worker.child.signalCode).toBeNull();
  },
  300_000,
);

describe('[L3] what is cut off three times in a row is not computed again:', () => {
  const told = [
    ['program', 'time_exceeded', { type: 'agent:program:after', outcome: 'error' }],
    ['check', 'parse_error', { type: 'agent:program:after', outcome: 'error' }],
    ['reply', 'too long to read', { type: 'agent:parse_error', family: 'format' }],
  ] as const;

  it.each(extentOf(told))(
    'a %s, which the model is told',
    async (agent, words, event) => {
      const { everloop } = await serveSpinners();
      const run = await everloop.start(agent, { task: 'Compute.' });

      expect(await run.result()).toMatchObject({ status: 'success', value: 42 });
      const events = await run.events();
      expect(events).toContainEqual(expect.objectContaining(event));
      expect(JSON.stringify(events)).toContain(words);
      expect(JSON.stringify(await run.transcript())).toContain(words);
      await stage.replay(run, { workflowsPath: TEST_LOOPS });
    },
    300_000,
  );

  it.runIf(RUNS_ALL)(
    'a fold, which ends the run',
    async () => {
      const { everloop } = await serveSpinners();
      const run = await everloop.start('loop', { task: 'Compute.' });

      expect(await run.result()).toMatchObject({ status: 'error', reason: 'internal' });
      await stage.replay(run, { workflowsPath: TEST_LOOPS });
    },
    300_000,
  );

  it('a message about other work has no effect', async () => {
    const { everloop } = await serveSpinners();
    const run = await everloop.start('greeter', { task: 'Hello.' });
    const handle = stage.client.workflow.getHandle(run.id);
    for (const payload of [{ work: 'loop', seq: 0 }, { work: 'reply', seq: 1 }, {}, 'loop']) {
      await handle.signal('overrun', payload);
    }

    expect((await run.result()).status).toBe('success');
  });
});
