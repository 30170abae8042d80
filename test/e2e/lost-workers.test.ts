/** Calls whose workers are lost: no attempt of the provider or tool, and no end of the run. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { extentOf, RUNS_ALL } from '../support/extent.ts';
import { triesOf } from '../support/fatal-agents.ts';
import { startFatalRun, type FatalRun, type Told } from '../support/fatal-run.ts';
import type { FatalWorker } from '../support/fixtures/serve-fatal.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const processes = fixtureProcesses<FatalWorker>('serve-fatal');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await processes.stop();
  await stage.close();
});

/** A worker that is silent for this long counts as lost: short, since each loss is waited for. */
const HEARTBEAT_MS = 4_000;

function play(told: Told): Promise<FatalRun> {
  const taskQueue = `fatal-${randomUUID()}`;
  return startFatalRun(stage, processes, told, { taskQueue, heartbeatMs: HEARTBEAT_MS });
}

async function countOf(run: RunHandle, key: string): Promise<number> {
  return (await run.stats()).counters[key] ?? 0;
}

describe.concurrent('a call whose worker dies', () => {
  it('[R1] is tried by the same model, and the provider has used no attempt', async () => {
    const { run, fatal, stop } = await play({ modelDeaths: 3, failures: 1 });
    await eventually('losses', async () => (await waitsOf(run)).includes('model first (lost '));

    expect(await run.result()).toMatchObject({ status: 'success', value: 'paid' });
    stop();
    expect(triesOf(fatal, 'model')).toHaveLength(5);
    const [call] = bodiesOf(await run.events(), 'agent:model_call:after');
    expect(call).toMatchObject({ model: 'first', attempts: 2, losses: 3 });
    expect(await countOf(run, 'agent:lost_attempts')).toBe(3);
    expect(await countOf(run, 'agent:model_call_retries')).toBe(1);
    expect(await countOf(run, 'agent:model_calls:second')).toBe(0);
    await stage.replay(run);
  }, 240_000);

  it('[R3] keeps the key of an idempotent tool, and gives the model its result', async () => {
    const { run, fatal, stop } = await play({ toolDeaths: 3 });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'paid' });
    stop();
    const tries = triesOf(fatal, 'tool').map((line) => line.split(' '));
    expect(new Set(tries.map(([key]) => key)).size).toBe(1);
    expect(tries.map(([, attempt]) => attempt)).toEqual(['1', '2', '3', '4']);
    const tried = (await run.attempts()).filter(({ kind }) => kind === 'tool');
    expect(tried.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'lost', 'ok']);
    expect(new Set(tried.map(({ worker }) => worker)).size).toBe(4);
    expect(tried[0]).toMatchObject({ reason: expect.stringMatching(/[Hh]eartbeat/) });
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { outcome: 'ok', attempts: 1, losses: 3 },
    ]);
    await stage.replay(run);
  }, 240_000);

  it('[R3] runs a `once` tool that never began, once', async () => {
    const mark = { deaths: 2, when: 'before' } as const;
    const { run, fatal, stop } = await play({ effect: 'once', mark });

    const step = await run.result();
    stop();
    expect(step).toMatchObject({ status: 'success', value: 'paid' });
    expect(step.unknownCalls).toBeUndefined();
    expect(triesOf(fatal, 'tool')).toHaveLength(1);
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { outcome: 'ok', attempts: 1, losses: 2 },
    ]);
    await stage.replay(run);
  }, 240_000);

  const losses = [
    ['as it began', { mark: { deaths: 1, when: 'after' } }, 0],
    ['in its code', { toolDeaths: 1 }, 1],
  ] as const;

  it.each(extentOf(losses))(
    '[R3] does not repeat a `once` tool that was lost %s',
    async (_when, told, ran) => {
      const { run, fatal, stop } = await play({ effect: 'once', ...told });

      const step = await run.result();
      stop();
      expect(step.value).toBe('unknown');
      expect(step.unknownCalls).toEqual([{ callId: '1.1', tool: 'pay' }]);
      expect(triesOf(fatal, 'tool').filter((line) => line !== '')).toHaveLength(ran);
      await stage.replay(run);
    },
    60_000,
  );

  it.runIf(RUNS_ALL)(
    '[R2] because another call blocks it is tried again, and so is the other',
    async () => {
      const { run, everloop, fatal, stop } = await play({ toolDeaths: 1, blockMs: 10_000 });
      const neighbour = await everloop.start('thinker', { task: 'Think' });

      expect(await run.result()).toMatchObject({ status: 'success', value: 'paid' });
      expect(await neighbour.result()).toMatchObject({ status: 'success', value: 'thought' });
      stop();
      expect(new Set(triesOf(fatal, 'tool').map((line) => line.split(' ')[0])).size).toBe(1);
      for (const { attempts } of bodiesOf(await neighbour.events(), 'agent:model_call:after')) {
        expect(attempts).toBe(1);
      }
      expect(await countOf(neighbour, 'agent:lost_attempts')).toBeGreaterThan(0);
      expect(await countOf(neighbour, 'agent:model_calls:second')).toBe(0);
    },
    240_000,
  );

  it.runIf(RUNS_ALL)(
    '[R3] that is stopped between two attempts may have taken effect',
    async () => {
      const { run, stop } = await play({ toolDeaths: 100 });
      await eventually('a lost call', async () =>
        (await waitsOf(run)).includes('tool pay (lost 2'),
      );
      await run.cancel();

      const step = await run.result();
      stop();
      expect(step).toMatchObject({
        status: 'canceled',
        unknownCalls: [{ callId: '1.1', tool: 'pay' }],
      });
      await stage.replay(run);
    },
    240_000,
  );

  it.runIf(RUNS_ALL)(
    '[R1] eight times is tried by the service in the end',
    async () => {
      const { run, fatal, stop } = await play({ modelDeaths: 8 });
      await eventually(
        'all deaths',
        async () => {
          await hurry(run);
          return triesOf(fatal, 'model').length > 8;
        },
        150_000,
      );

      expect(await run.result()).toMatchObject({ status: 'success', value: 'paid' });
      stop();
      expect(triesOf(fatal, 'model')).toHaveLength(9);
      const [call] = bodiesOf(await run.events(), 'agent:model_call:after');
      expect(call).toMatchObject({ model: 'first', attempts: 1 });
      expect(await countOf(run, 'agent:lost_attempts')).toBeGreaterThanOrEqual(5);
      // Five losses, each of which costs the history some events and a look at the clock; the others
      // cost none.
      const [first = 0, ...more] = await scheduledAt(run, 'callModel');
      expect((more[4] ?? Infinity) - first).toBeLessThanOrEqual(70);
      await stage.replay(run);
    },
    240_000,
  );
});

/** The numbers of the events of history that schedule an activity of this type. */
async function scheduledAt({ id }: RunHandle, type: string): Promise<readonly number[]> {
  const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === type ? [Number(eventId)] : [],
  );
}

/** Ends the pause of the service before its next attempt, which is half a minute or longer. */
async function hurry({ id: workflowId }: RunHandle): Promise<void> {
  const { raw } = await stage.client.workflow.getHandle(workflowId).describe();
  const waiting = raw.pendingActivities?.find(({ state }) => state === SCHEDULED);
  if ((waiting?.attempt ?? 1) < 2) return;
  const { namespace } = stage;
  await stage.client.workflowService.resetActivity({
    namespace,
    execution: { workflowId },
    id: waiting?.activityId ?? '',
  });
}

/** The service's state of an activity that waits for its next attempt. */
const SCHEDULED = 1;

async function waitsOf(run: RunHandle): Promise<string> {
  return (await run.status()).waitsFor.join();
}
