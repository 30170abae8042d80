/** A model call whose heartbeat came too late: the service gives it up while its worker lives. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

const HEARTBEAT_MS = 1_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

describe('a model call that its service gave up', () => {
  it('is not asked for again: the next attempt has the reply, and nothing is charged twice', async () => {
    let asked = 0;
    const agent = defineAgent({
      name: 'patient',
      mode: 'chat',
      model: {
        id: 'm',
        model: async () => {
          asked += 1;
          // Until the service has surely noticed that nobody is there: no heartbeat goes out.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4 * HEARTBEAT_MS);
          return { content: 'done', usage: { inputTokens: 10, outputTokens: 1 } };
        },
      },
    });
    const { everloop } = await stage.serve([agent], { heartbeatMs: HEARTBEAT_MS });

    const run = await everloop.start('patient', { task: 'Go' });
    expect(await run.result()).toMatchObject({
      status: 'success',
      value: 'done',
      usage: { modelCalls: 1, totalTokens: 11 },
    });
    expect(asked).toBe(1);
    expect(bodiesOf(await run.events(), 'agent:model_call:after')).toMatchObject([{ losses: 1 }]);
    const { events = [] } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const given = (events ?? []).filter((event) => event.activityTaskTimedOutEventAttributes);
    expect(given).toHaveLength(1);
    await stage.replay(run);
  }, 60_000);
});
