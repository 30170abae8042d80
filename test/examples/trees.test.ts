import { describe, expect, it } from 'vitest';
import { reader } from '../../examples/long-document/agents.ts';
import { LOG_LINES } from '../../examples/long-document/ship-log.ts';
import { research, researchTeam } from '../../examples/research/agents.ts';
import { RESEARCH_ADVICE, RESEARCH_QUESTION } from '../../examples/research/scripts.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { bodiesOf } from '../support/runs.ts';
import { ownSums, runsOf, treeCounters } from '../support/trees.ts';

describe('the research team', () => {
  it('plans, looks things up at the same time, writes, and mends the draft [sub 16]', async () => {
    const run = startInMemory({ agent: research, task: RESEARCH_QUESTION });

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', RESEARCH_ADVICE]);
    expect(runsOf(run).map(({ state }) => state.agentPath)).toEqual([
      'research',
      'research/1/planner',
      'research/2/costs',
      'research/2/customers',
      'research/2/rules',
      'research/3/writer',
      'research/3/writer/1/reviewer',
      'research/3/writer/2/reviewer',
    ]);
    const writer = run.children.at(-1);
    const reviews = await Promise.all((writer?.children ?? []).map(({ result }) => result));
    expect(reviews.map(({ value }) => value)).toEqual([
      { accepted: false, remarks: ['Name the notes.', 'What of the rules?'] },
      { accepted: true, remarks: [] },
    ]);
    const order = bodiesOf(run.events, 'agent:child:spawn').map(({ childAgent }) => childAgent);
    expect(order).toEqual(['planner', 'costs', 'customers', 'rules', 'writer']);
    expect(step.usage.modelCalls).toBe(12);
    expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
  });

  it('ends when a researcher finds nothing that it can say', async () => {
    const fine: ModelFunction = () => Promise.resolve('{"costs":"a","customers":"b","rules":"c"}');
    const silent: ModelFunction = () =>
      Promise.reject(Object.assign(new Error('no such model'), { statusCode: 400 }));
    const agent = researchTeam((member) => ({
      id: member,
      model: member === 'rules' ? silent : fine,
    }));

    const step = await startInMemory({ agent, task: RESEARCH_QUESTION }).result;

    expect([step.reason, step.message?.split(':')[0]]).toEqual([
      'chained_failure',
      'upstream `rules` ended with model_request_refused',
    ]);
    expect(step.children.at(-1)?.agent).not.toBe('writer');
  });
});

describe('the reader of a long document', () => {
  it('calls itself on parts until they are short enough [sub 13]', async () => {
    const run = startInMemory({ agent: reader, context: { from: 1, to: LOG_LINES } });

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', { storms: 4, strongest: 12 }]);
    const runs = runsOf(run);
    const depths = runs.map(({ state }) => state.depth);
    expect([0, 1, 2, 3].map((depth) => depths.filter((one) => one === depth).length)).toEqual([
      1, 4, 16, 0,
    ]);
    expect(step.usage.modelCalls).toBe(42);
    expect(treeCounters(step.stats)).toEqual(ownSums(runs.map(({ state }) => state.stats)));
  });

  // Runs in the middle have stopped for the limit while those below ask them for more.
  it('ends when the budget is used up in the middle of the tree [row 57]', async () => {
    const step = await startInMemory({
      agent: reader,
      context: { from: 1, to: LOG_LINES },
      limits: { modelCalls: 10 },
    }).result;

    expect([step.status, step.reason]).toEqual([
      'limit_exceeded',
      'agent:tool_calls_error_consecutive',
    ]);
    expect(step.children.map(({ status, reason }) => [status, reason])).toEqual(
      [1, 2, 3, 4].map(() => ['limit_exceeded', 'agent:model_calls']),
    );
    expect(step.usage.modelCalls).toBeLessThanOrEqual(10);
  });
});
