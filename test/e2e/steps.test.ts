/** Rows of the acceptance table that must hold as a workflow too: events, inputs, hand-over. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/activities/define-agent.ts';
import type { AgentDefinition } from '../../src/activities/definitions.ts';
import type { ModelFunction } from '../../src/core/model/model.ts';
import { comparableStep } from '../support/airline.ts';
import { act, answer, bodiesOf, gate, hasNoGap, searchTool, abortOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer } from '../support/test-server.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

function tester(model: ModelFunction, tools = [searchTool()]): AgentDefinition {
  return defineAgent({ name: 'tester', model: { id: 'm', model }, tools });
}

describe('a run as a workflow', () => {
  it('records continue, continue, end without a gap [row 1]', async () => {
    const agent = tester(async ({ iteration }) =>
      iteration < 3 ? act(`q${iteration}`) : answer(),
    );
    const { everloop } = await stage.serve([agent]);

    const run = await everloop.start('tester', { task: 'Go' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 3 });
    const events = await run.events();
    const iteration = (number: number, more: readonly string[]): readonly string[] =>
      ['iteration:before', 'model_call:before', 'model_call:after', 'turn:read', ...more].map(
        (type) => `${number} ${type}`,
      );
    const call = [
      'tool_call:before',
      'tool_call:after',
      'iteration_history:change',
      'scratchpad:change',
      'iteration:after',
    ];
    expect(events.map(({ iteration: at, type }) => `${at} ${type.slice('agent:'.length)}`)).toEqual(
      [
        '0 execution:before',
        ...iteration(1, call),
        ...iteration(2, call),
        ...iteration(3, ['answer:judged', 'iteration_history:change', 'iteration:after']),
        '3 execution:after',
      ],
    );
    expect(hasNoGap(events)).toBe(true);
    await stage.replay(run);
  });
});

describe('inputs of a live run [row 8]', () => {
  it('are read steer first, then in order; a repeated id gives its first position', async () => {
    const asked = gate();
    const release = gate();
    const agent = tester(async ({ iteration }) => {
      asked.open();
      await release.opened;
      return iteration === 1 ? act('q') : answer();
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('tester', { task: 'Go' });
    await asked.opened;

    const positions = [
      await run.send('first', { id: 'a' }),
      await run.send('second', { id: 'b' }),
      await run.send('urgent', { id: 'c', kind: 'steer' }),
      await run.send('first again', { id: 'a' }),
    ];
    release.open();
    await run.result();

    expect(positions).toEqual([1, 2, 3, 1]);
    const events = await run.events();
    expect(
      bodiesOf(events, 'agent:input').map(({ inputId, position }) => [inputId, position]),
    ).toEqual([
      ['c', 3],
      ['a', 1],
      ['b', 2],
    ]);
    await stage.replay(run);
  });

  it('that come while an answer is made are read, and the run goes on', async () => {
    const asked = gate();
    const release = gate();
    const agent = tester(async ({ iteration }) => {
      asked.open();
      await release.opened;
      return answer(`answer ${iteration}`);
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('tester', { task: 'Go' });
    await asked.opened;

    await run.send('one more thing');
    release.open();

    expect(await run.result()).toMatchObject({
      status: 'success',
      value: 'answer 2',
      iterations: 2,
    });
    await stage.replay(run);
  });

  it('that come too late are named in the Step', async () => {
    const asked = gate();
    const release = gate();
    const agent = tester(async () => {
      asked.open();
      await release.opened;
      return answer();
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('tester', { task: 'Go', limits: { iterations: 1 } });
    await asked.opened;

    await run.send('one more thing', { id: 'late' });
    release.open();
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 1 });
    expect(step.trace.unreadInputs).toEqual(['late']);
    await stage.replay(run);
  });

  it('interrupt calls in flight, which are recorded so', async () => {
    const begun = gate();
    const tool = searchTool(async (_query, { signal }) => {
      begun.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const agent = tester(
      async ({ iteration }) => (iteration === 1 ? act('a', 'b') : answer()),
      [tool],
    );
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('tester', { task: 'Go' });
    await begun.opened;

    await run.send('never mind', { kind: 'interrupt' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', iterations: 2 });
    const events = await run.events();
    expect(bodiesOf(events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual([
      'canceled',
      'canceled',
    ]);
    expect(bodiesOf(events, 'agent:iteration:after').map(({ outcome }) => outcome)).toEqual([
      'interrupted',
      'end',
    ]);
    await stage.replay(run);
  });
});

describe('a hand-over [row 6]', () => {
  it('changes nothing that a run comes to', { timeout: 120_000 }, async () => {
    const agent = tester(async ({ iteration }) =>
      iteration < 20 ? act(`q${iteration}`) : answer(),
    );
    const other = await startTestServer({
      dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 20 },
    });
    const otherStage = await openStage(other);
    try {
      const whole = await stage.serve([agent]);
      const linked = await otherStage.serve([agent]);
      const runs = await Promise.all(
        [whole, linked].map(({ everloop }) => everloop.start('tester', { task: 'Go' })),
      );

      const steps = await Promise.all(runs.map((run) => run.result()));

      const [plain, chained] = runs;
      if (plain === undefined || chained === undefined) throw new Error('Expected two runs.');
      expect(comparableStep(steps[1]!)).toEqual(comparableStep(steps[0]!));
      expect(await chained.transcript()).toEqual(await plain.transcript());
      const handed = await chained.events();
      const links = bodiesOf(handed, 'agent:execution:handover').length;
      expect(links).toBeGreaterThanOrEqual(9);
      expect(handed).toHaveLength((await plain.events()).length + links);
      expect(await chained.status()).toMatchObject({ link: links + 1, state: 'ended' });
      await stage.replay(plain);
      await otherStage.replay(chained);
    } finally {
      await otherStage.close();
      await other.stop();
    }
  });
});
