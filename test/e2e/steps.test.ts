/** Rows of the acceptance table that must hold as a workflow too: events, inputs, hand-over. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { counter, summarize } from '../../src/define/agent/define-compaction.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { comparableStep } from '../support/airline.ts';
import { extentOf } from '../support/extent.ts';
import { act, answer, bodiesOf, gate, hasNoGap, searchTool, abortOf } from '../support/runs.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

function tester(model: ModelFunction, tools = [searchTool()]): AgentDefinition {
  return defineAgent({ name: 'tester', mode: 'react', model: { id: 'm', model }, tools });
}

describe('a run as a workflow', () => {
  it('records continue, continue, end without a gap, and tells listeners [row 1] [row 48]', async () => {
    const agent = tester(async ({ iteration }) =>
      iteration < 3 ? act(`q${iteration}`) : answer(),
    );
    const heard: AgentEvent[] = [];
    const listeners = [
      () => {
        throw new Error('a listener that is broken');
      },
      (event: AgentEvent) => heard.push(event),
    ];
    const { everloop } = await stage.serve([agent], { listeners });

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
    // In order, each at least once: a workflow task that is done again tells its events again.
    const bySeq = new Map(heard.map((event) => [event.seq, event]));
    expect([...bySeq.values()]).toEqual(events);
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

/** Searches its tools in each iteration but the last, in native calls, and is summed up at times. */
function searcher(iterations: number): AgentDefinition {
  const areas = ['alpha', 'beta', 'gamma', 'delta'];
  const tools = Array.from({ length: 12 }, (_, index) =>
    defineTool({
      name: `${areas[index % 4] ?? ''}_${index}`,
      description: 'Does its work.',
      execute: () => 'done',
    }),
  );
  const model: ModelFunction = async ({ mode, iteration, tools: shown = [] }) => {
    if (mode === 'text') return `summary after ${iteration}`;
    // What it says depends on what it was shown, so a hand-over that loses it is seen.
    if (iteration >= iterations) return shown.map(({ name }) => name).join(' ');
    const query = areas[iteration % 4] ?? '';
    const toolCalls = [
      { name: 'tool_registry_search', args: { query, page: 1 + (iteration % 2) } },
    ];
    return { content: `look for ${query}`, toolCalls };
  };
  return defineAgent({
    name: 'searcher',
    mode: 'chat',
    model: { id: 'searching', model },
    tools,
    toolSearch: { pins: ['alpha_0'] },
    compaction: {
      triggers: [counter('agent:iterations', 3)],
      strategies: [summarize({ keepRecent: 1 })],
    },
  });
}

describe('a hand-over [row 6]', () => {
  let otherStage: Stage;
  beforeAll(async () => {
    otherStage = await openHandoverStage(20);
  });
  afterAll(() => otherStage?.close());

  it.each(
    extentOf<{ name: string; agent: AgentDefinition; minLinks: number }>([
      {
        // Five hand-overs or more, with tools that were found and counts since the last summary.
        name: 'of found tools, snapshots and summaries [row 27] [row 49] [row 51]',
        agent: searcher(14),
        minLinks: 5,
      },
      {
        name: 'of calls and results',
        agent: tester(async ({ iteration }) => (iteration < 20 ? act(`q${iteration}`) : answer())),
        minLinks: 9,
      },
    ]),
  )('changes nothing that a run comes to: $name', async (row) => {
    const { agent, minLinks } = row;
    const whole = await stage.serve([agent]);
    const linked = await otherStage.serve([agent]);
    const [plain, chained] = await Promise.all([
      whole.everloop.start(agent.name, { task: 'Go' }),
      linked.everloop.start(agent.name, { task: 'Go' }),
    ]);

    const [step, chainedStep] = await Promise.all([plain.result(), chained.result()]);

    expect(step.status).toBe('success');
    expect(comparableStep(chainedStep)).toEqual(comparableStep(step));
    expect(await chained.transcript()).toEqual(await plain.transcript());
    const handed = await chained.events();
    const links = bodiesOf(handed, 'agent:execution:handover').length;
    expect(links).toBeGreaterThanOrEqual(minLinks);
    expect(
      handed.filter(({ type }) => type !== 'agent:execution:handover').map(typeAndIteration),
    ).toEqual((await plain.events()).map(typeAndIteration));
    expect(await chained.status()).toMatchObject({ link: links + 1, state: 'ended' });
    await stage.replay(plain);
    await otherStage.replay(chained);
  });
});

function typeAndIteration({ type, iteration }: AgentEvent): string {
  return `${iteration} ${type}`;
}
