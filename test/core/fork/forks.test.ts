/** Forks in memory: the law of their state, edits, and what their calls do. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { fanOut } from '../../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../../src/define/pipeline/define-pipeline.ts';
import { keptResults } from '../../../src/core/fork/kept-results.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import type { ForkEdit, ForkEffects } from '../../../src/core/base/fork.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { createRegistry } from '../../../src/registry/registry.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { RUNS_ALL } from '../../support/extent.ts';
import { act, answer, cachedSearch, hasNoGap, startRun, typesOf } from '../../support/runs.ts';
import { playedInMemory, SCENARIOS } from '../../support/scenarios.ts';

/** What a run said and did from an iteration on, without ids and times. */
function restOf({ entries, events, state }: MemoryRun, step: Step, iteration: number): object {
  const calls = events.flatMap((event) =>
    event.type === 'agent:tool_call:after' && event.iteration >= iteration
      ? [{ callId: event.callId, tool: event.tool, args: event.args, output: event.output }]
      : [],
  );
  return {
    entries: entries.filter((entry) => entry.iteration >= iteration),
    calls,
    scratchpad: state.scratchpad,
    mark: state.mark,
    data: state.data,
    program: state.program,
    status: step.status,
    value: step.value,
  };
}

/** All boundaries, or in a sample the first, one in the middle and the last. */
function momentsOf(newest: number): readonly number[] {
  const all = Array.from({ length: newest }, (_, at) => at + 1);
  return RUNS_ALL ? all : [...new Set([1, Math.ceil(newest / 2), newest])];
}

describe('a fork without edits', () => {
  it.each(SCENARIOS)(
    'of $name repeats the rest of its source, from every boundary',
    async (one) => {
      const run = startInMemory({ agent: one.agent(), task: one.task });
      const step = await playedInMemory(run, one);
      const { iteration: newest } = run.at('latest');

      for (const iteration of momentsOf(newest)) {
        const fork = run.fork({ iteration }, { effects: 'reuse', stats: 'keep' });
        const forked = await playedInMemory(fork, one);

        expect(restOf(fork, forked, iteration)).toEqual(restOf(run, step, iteration));
        expect(forked.iterations).toBe(step.iterations);
        expect(forked.trace.forkedFrom).toEqual({
          workflowId: 'run-1',
          runId: 'run-1',
          executionId: 'run-1',
          iteration,
        });
      }
    },
  );

  it('goes on with the numbers of its source, which one list shows without a gap', async () => {
    const { run } = startRun([act('a'), act('b'), answer(), act('b'), answer()]);
    await run.result;
    const fork = run.fork({ iteration: 2 }, { effects: 'reuse' });
    await fork.result;

    const before = run.events.filter(({ seq }) => seq <= run.at({ iteration: 2 }).event);
    expect(hasNoGap([...before, ...fork.events])).toBe(true);
    expect(typesOf(fork.events).slice(0, 2)).toEqual(['execution:before', 'iteration:before']);
    expect(fork.entries.map(({ index }) => index)).toEqual([1, 2]);
  });
});

/** A tool of each effect that counts how often it runs. */
function countedTools(): { readonly tools: ToolDefinition[]; readonly ran: string[] } {
  const ran: string[] = [];
  const tools = (['read', 'idempotent', 'once'] as const).map(
    (effect) =>
      defineTool({
        name: `tool_${effect}`,
        description: 'Counts.',
        parameters: z.object({ query: z.string() }),
        effect,
        execute: ({ query }) => {
          ran.push(`${effect} ${query}`);
          return `${effect} ${query} ${ran.length}`;
        },
      }) as ToolDefinition,
  );
  return { tools, ran };
}

/** A reply that calls the tool of each effect with its query. */
function callAll(...calls: readonly (readonly [effect: string, query: string])[]): string {
  const yaml = calls.map(
    ([effect, query]) => `- tool: tool_${effect}\n  args:\n    query: ${query}`,
  );
  return `<action>\n${yaml.join('\n')}\n</action>`;
}

async function forkedWith(effects: ForkEffects, replies: readonly string[]) {
  const { tools, ran } = countedTools();
  const source = [
    callAll(['read', 'a'], ['idempotent', 'a'], ['once', 'a'], ['once', 'a']),
    answer(),
  ];
  const { run, script } = startRun([...source, ...replies], { agent: { tools } });
  await run.result;
  ran.length = 0;
  const fork = run.fork('start', { effects });
  const seen = await fork.resultOrPending();
  return { run, fork, ran, script, seen };
}

describe('the effects of a fork', () => {
  it('have to be said if its source changed something, and need not if it only read', async () => {
    const { tools } = countedTools();
    const { run } = startRun(
      [callAll(['read', 'a']), callAll(['once', 'b'], ['once', 'c']), answer()],
      {
        agent: { tools },
      },
    );
    await run.result;

    expect(() => run.fork('start')).toThrow(
      'Expected `effects` to be one of run, approve, reuse, replay-only, got none, and the source made calls from iteration 1 on that the fork may repeat: tool_once (once) ×2. Choose one.',
    );
    expect(() => run.fork({ iteration: 3 })).not.toThrow();
  });

  it('run: every call runs', async () => {
    const { ran, fork } = await forkedWith('run', [
      callAll(['once', 'a'], ['read', 'a']),
      answer(),
    ]);
    await fork.result;
    expect(ran).toEqual(['once a', 'read a']);
  });

  it('reuse: equal calls get the recorded result, each once and in order; others run', async () => {
    const { ran, fork, script } = await forkedWith('reuse', [
      callAll(['once', 'a'], ['once', 'a'], ['once', 'a'], ['once', 'b'], ['read', 'a']),
      answer(),
    ]);
    const step = await fork.result;

    expect(ran).toEqual(['once a', 'once b']);
    const said = JSON.stringify(script.requests.at(-1));
    for (const text of ['once a 3', 'once a 4', 'read a 1']) expect(said).toContain(text);
    expect(step.status).toBe('success');
    const reused = fork.events.filter(
      (event) => event.type === 'agent:tool_call:after' && event.reused === true,
    );
    expect(reused).toHaveLength(3);
    expect(fork.state.fork?.recorded).toHaveLength(1);
  });

  it('replay-only: what is not recorded and no read is refused with a text for the model', async () => {
    const { ran, fork, script } = await forkedWith('replay-only', [
      callAll(['once', 'a'], ['once', 'b'], ['idempotent', 'b'], ['read', 'b']),
      answer(),
    ]);
    await fork.result;

    expect(ran).toEqual(['read b']);
    expect(JSON.stringify(script.requests.at(-1))).toContain('tool_once was not run.');
  });

  it('approve: each call that is no read waits for a person', async () => {
    const { ran, fork, seen } = await forkedWith('approve', [
      callAll(['once', 'b'], ['read', 'b'], ['idempotent', 'b']),
      answer(),
    ]);

    expect(seen.kind === 'pending' && seen.pending.map(({ id }) => id)).toEqual(['1.1', '1.3']);
    expect(ran).toEqual(['read b']);
    fork.decide('1.1', { approve: true });
    fork.decide('1.3', { deny: 'no' });
    await fork.result;
    expect(ran).toEqual(['read b', 'once b']);
  });
});

describe('edits', () => {
  const replies = [act('a'), act('b'), answer('first')];

  it('change what the model reads, and begin an epoch with a digest of its own', async () => {
    const { run, script } = startRun([...replies, answer('second')]);
    await run.result;
    const fork = run.fork(
      { iteration: 3 },
      {
        effects: 'run',
        edits: [{ entry: 1, text: 'Nothing found' }, { drop: 0 }, { append: 'Think again' }],
      },
    );
    const step = await fork.result;

    expect(step.value).toBe('second');
    const said = JSON.stringify(script.requests.at(-1));
    expect(said).toContain('Nothing found');
    expect(said).toContain('Think again');
    expect(said).not.toContain('hits for');
    expect(fork.state.mark.epoch).toBe(2);
    expect(typesOf(fork.events)).toContain('input');
  });

  it('are refused all at once', async () => {
    const { run } = startRun(replies);
    await run.result;

    expect(() =>
      run.fork(
        { iteration: 3 },
        {
          effects: 'run',
          edits: [
            { entry: 20, text: 'x' },
            { entry: 0, text: 'lost' },
            { entry: 0, text: ' ' },
          ],
        },
      ),
    ).toThrow(
      [
        'Expected entries 0 to 1, got 20. Choose one that the conversation still has.',
        'Expected one text for entry 0, got 2. Choose one.',
        'Expected a text for entry 0, got an empty one. Write one, or drop the entry.',
      ].join('\n'),
    );
  });
});

describe('results of tools with `cache`', () => {
  /** A source with cached results of `a` and `b`, and forks that ask for both again. */
  async function cachedForks() {
    const ran: string[] = [];
    const lookUp = cachedSearch(ran);
    const again = [act('a', 'b'), answer()];
    const { run } = startRun(
      [act('a'), act('b'), answer(), ...Array.from({ length: 6 }, () => again).flat()],
      { agent: { tools: [lookUp] } },
    );
    await run.result;
    expect(ran).toEqual(['a', 'b']);
    return async (edits: readonly ForkEdit[]) => {
      ran.length = 0;
      const fork = run.fork({ iteration: 3 }, { effects: 'run', edits });
      expect(await fork.result).toMatchObject({ status: 'success' });
      return [...ran];
    };
  }

  it('stay with a fork, but for those whose entry is dropped or has another text', async () => {
    const ranIn = await cachedForks();

    expect(await ranIn([])).toEqual([]);
    expect(await ranIn([{ append: 'Once more' }])).toEqual([]);
    expect(await ranIn([{ drop: 0 }])).toEqual(['a']);
    expect(await ranIn([{ drop: 1 }])).toEqual(['b']);
    expect(await ranIn([{ entry: 1, text: 'Nothing found' }])).toEqual(['b']);
    expect((await ranIn([{ drop: 0 }, { entry: 1, text: 'Nothing found' }])).sort()).toEqual([
      'a',
      'b',
    ]);
  });

  it('go with the summary of their entries, and do not with an input', () => {
    const entry = (index: number, iteration: number, origin: Entry['origin']): Entry => ({
      index,
      iteration,
      origin,
      messages: [],
    });
    const summary = entry(-1, 2, 'compacted_synthetic');
    const input = entry(2, 3, 'input');
    const third = entry(3, 3, 'original');
    const all = [summary, input, third];
    const cached = [1, 2, 3].map((iteration) => ({
      key: `search ${iteration}`,
      bytes: 9,
      result: { output: iteration },
      iteration,
    }));
    const keys = (after: readonly Entry[]) =>
      keptResults(cached, all, after)?.map(({ iteration }) => iteration);

    expect(keys(all)).toEqual([1, 2, 3]);
    expect(keys([summary, third])).toEqual([1, 2, 3]);
    expect(keys([input, third])).toEqual([3]);
    expect(keys([summary, input])).toEqual([1, 2]);
    expect(keys([])).toBeUndefined();
  });
});

describe('a moment', () => {
  it('is an iteration, the last boundary before an event, the first or the newest', async () => {
    const { run } = startRun([act('a'), act('b'), answer()]);
    await run.result;

    const second = run.at({ iteration: 2 });
    expect(run.at('start').iteration).toBe(1);
    expect(run.at('latest').iteration).toBe(3);
    expect(run.at({ event: second.event }).iteration).toBe(2);
    expect(run.at({ event: second.event - 1 }).iteration).toBe(1);
    expect(second.entries.map(({ index }) => index)).toEqual([0]);
    expect(second.callsAfter).toEqual([{ callId: '2.1', tool: 'search', effect: 'idempotent' }]);
  });

  it('that the run does not have is refused', async () => {
    const { run } = startRun([answer()]);
    await run.result;
    expect(() => run.at({ iteration: 40 })).toThrow(
      'Expected an iteration from 1 to 1 of run `run-1`, got 40. Choose one.',
    );
  });
});

describe('a fork', () => {
  it('of a fork begins from it', async () => {
    const { run } = startRun([act('a'), act('b'), answer(), act('c'), answer(), answer('third')]);
    await run.result;
    const first = run.fork({ iteration: 2 }, { effects: 'run' });
    await first.result;
    const second = first.fork({ iteration: 3 }, { effects: 'run' });
    const step = await second.result;

    expect(step.trace.forkedFrom).toMatchObject({ workflowId: 'run-1-fork-1', iteration: 3 });
    expect(second.state.scratchpad.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('of a child is a root, with nothing of its tree', async () => {
    const script = scriptedModel([
      '<action>\n- tool: helper\n  args:\n    task: Help\n</action>',
      act('x'),
      answer('helped'),
      answer('all'),
      act('y'),
      answer('again'),
    ]);
    const tools = [countedTools().tools[0] as ToolDefinition];
    const helper = defineAgent({
      name: 'helper',
      mode: 'react',
      description: 'Helps.',
      model: { id: 'm', model: script.model },
      tools,
    });
    const boss = defineAgent({
      name: 'boss',
      mode: 'react',
      model: { id: 'm', model: script.model },
      tools: [agentTool({ agent: helper })],
    });
    const run = startInMemory({ agent: boss, task: 'Go' });
    await run.result;
    const [child] = run.children;
    const fork = child?.fork('start', { effects: 'run', limits: { iterations: 5 } });
    const step = await fork?.result;

    expect(step).toMatchObject({ status: 'success', value: 'again', agent: 'helper' });
    expect(step?.trace.parent).toBeUndefined();
    expect(fork?.state).toMatchObject({ depth: 0, agentPath: 'helper' });
    expect(fork?.state.leases).toBeUndefined();
  });

  it('of a pipeline goes on before a stage, and of a fan-out before its parts', async () => {
    const script = scriptedModel(['one', 'two', 'two again', 'a', 'b', 'c', 'd']);
    const text = (name: string) =>
      defineAgent({ name, mode: 'text', model: { id: 'm', model: script.model } });
    const chain = pipeline('chain', [text('first'), text('second')]);
    const run = startInMemory({ agent: chain, task: 'Go' });
    expect(await run.result).toMatchObject({ value: 'two' });
    const fork = run.fork({ iteration: 2 }, { effects: 'run' });
    expect(await fork.result).toMatchObject({ status: 'success', value: 'two again' });
    expect(() => run.fork({ iteration: 2 })).toThrow('second (agent) ×1');

    const each = fanOut('each', text('part'));
    const parts = startInMemory({ agent: each, task: 'Go', context: { items: ['x', 'y'] } });
    expect(await parts.result).toMatchObject({ value: ['a', 'b'] });
    const again = parts.fork('latest', { effects: 'replay-only' });
    expect(await again.result).toMatchObject({ status: 'success' });
  });

  it('gets limits, a task and another agent of today', async () => {
    const { run } = startRun([act('a'), act('b'), answer()], { limits: { iterations: 2 } });
    const step = await run.result;
    expect(step.status).toBe('limit_exceeded');
    const script = scriptedModel([answer('more')]);
    const today = defineAgent({
      name: 'tester',
      mode: 'react',
      model: { id: 'n', model: script.model },
      instructions: 'New words.',
    });
    const registry = createRegistry({ agents: [today], models: [] });
    const fork = run.fork('latest', {
      registry,
      definition: 'current',
      task: 'Other',
      limits: { iterations: 9 },
    });

    expect(await fork.result).toMatchObject({ status: 'success', value: 'more', iterations: 1 });
    const said = JSON.stringify(script.requests[0]);
    for (const text of ['New words.', 'Other', 'hits for b']) expect(said).toContain(text);
    const chat = defineAgent({
      name: 'tester',
      mode: 'chat',
      model: { id: 'n', model: script.model },
    });
    expect(() =>
      run.fork('latest', {
        registry: createRegistry({ agents: [chat], models: [] }),
        definition: 'current',
      }),
    ).toThrow(
      "Expected an agent of mode `react`, got `tester` of mode `chat`. Fork with `definition: 'recorded'`.",
    );
  });
});
