import { describe, expect, it } from 'vitest';
import { toolResult } from '../../../src/define/tool/tool-result.ts';
import { wouldCross } from '../../../src/core/limits/breach.ts';
import type { Limit } from '../../../src/core/contract/limit.ts';
import { roomFor, wavesOf } from '../../../src/core/toolchain/batch.ts';
import { EMPTY_STATS } from '../../../src/core/contract/stats.ts';
import { ToolError } from '../../../src/core/base/tool-error.ts';
import {
  act,
  actWith,
  answer,
  bodiesOf,
  gate,
  searchTool,
  startRun,
  typesOf,
} from '../../support/runs.ts';
import { toolSpec } from './spec-fixture.ts';

/** Outcome by call id, in request order. */
function outcomes(run: ReturnType<typeof startRun>['run']): readonly (readonly string[])[] {
  return bodiesOf(run.events, 'agent:tool_call:after')
    .map(({ callId, outcome }) => [callId, outcome])
    .toSorted(([a = ''], [b = '']) => a.localeCompare(b));
}

describe('a batch of calls', () => {
  it('[row 22] overlaps in time, and each call is recorded when it ends', async () => {
    const steps: string[] = [];
    const gates = { a: gate(), b: gate() };
    // Time passes once the call before has been recorded as settled, not in the middle of it.
    const openLater = (name: 'a' | 'b'): void => {
      setImmediate(() => {
        clock.advance(10);
        gates[name].open();
      });
    };
    const tool = searchTool(async (query) => {
      steps.push(`begin ${query}`);
      if (query !== 'c') await gates[query as 'a' | 'b'].opened;
      if (query !== 'a') openLater(query === 'c' ? 'b' : 'a');
      steps.push(`end ${query}`);
      return query;
    });
    const { run, clock } = startRun([act('a', 'b', 'c'), answer()], { agent: { tools: [tool] } });

    await run.result;

    expect(steps).toEqual(['begin a', 'begin b', 'begin c', 'end c', 'end b', 'end a']);
    expect(
      bodiesOf(run.events, 'agent:tool_call:after').map((call) => [
        call.callId,
        call.output,
        call.durationMs,
      ]),
    ).toEqual([
      ['1.3', 'c', 0],
      ['1.2', 'b', 10],
      ['1.1', 'a', 20],
    ]);
    expect(typesOf(run.events).slice(5, 11)).toEqual([
      'tool_call:before',
      'tool_call:before',
      'tool_call:before',
      'tool_call:after',
      'tool_call:after',
      'tool_call:after',
    ]);
  });

  it.each<{
    calls: readonly (readonly [tool: string, query: string])[];
    streaks: readonly number[];
  }>([
    {
      calls: [
        ['search', 'bad'],
        ['other', 'bad'],
        ['search', 'ok'],
      ],
      streaks: [2, 1, 1],
    },
    {
      calls: [
        ['search', 'ok'],
        ['other', 'bad'],
        ['search', 'bad'],
      ],
      streaks: [0, 0, 1],
    },
    {
      calls: [
        ['search', 'bad'],
        ['other', 'ok'],
        ['search', 'bad'],
      ],
      streaks: [1, 2, 0],
    },
    {
      calls: [
        ['other', 'bad'],
        ['other', 'bad'],
        ['other', 'bad'],
      ],
      streaks: [3, 0, 3],
    },
  ])(
    '[row 38] moves streaks as calls end, here from the last to the first: $calls',
    async (row) => {
      const gates = row.calls.map(() => gate());
      let begun = 0;
      const work = async (query: string): Promise<string> => {
        const place = begun;
        begun += 1;
        // The last ends first, and each lets the one before it end.
        if (begun === row.calls.length) gates[place]?.open();
        await gates[place]?.opened;
        setImmediate(() => gates[place - 1]?.open());
        if (query === 'bad') throw new ToolError('down');
        return query;
      };
      const tools = [searchTool(work), searchTool(work, { name: 'other' })];
      const { run } = startRun([actWith(...row.calls), answer()], { agent: { tools } });

      const { stats } = await run.result;

      const key = 'agent:tool_calls_error_consecutive';
      expect(
        ['', ':search', ':other'].map((suffix) => stats.gauges[`${key}${suffix}`] ?? 0),
      ).toEqual(row.streaks);
      const failed = row.calls.filter(([, query]) => query === 'bad').length;
      expect([
        stats.counters['agent:tool_calls'],
        stats.counters['agent:tool_calls_error_total'],
        stats.counters['$self:agent:tool_calls_error_total'],
      ]).toEqual([3, failed, failed]);
    },
  );

  it.each([
    { name: 'with `parallel: false`', parallel: false, sequential: false },
    { name: 'of a sequential tool', parallel: true, sequential: true },
  ])('[row 22] $name does not overlap', async ({ parallel, sequential }) => {
    let running = 0;
    let most = 0;
    const tool = searchTool(
      async (query) => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
        return query;
      },
      { sequential },
    );
    const { run } = startRun([act('a', 'b', 'c'), answer()], {
      agent: { tools: [tool], parallel },
    });

    await run.result;

    expect(most).toBe(1);
    expect(outcomes(run)).toEqual([
      ['1.1', 'ok'],
      ['1.2', 'ok'],
      ['1.3', 'ok'],
    ]);
  });

  it('[row 22] runs the others when one fails', async () => {
    const tool = searchTool((query) => {
      if (query === 'b') throw new Error('no such page');
      return query;
    });
    const { run } = startRun([act('a', 'b', 'c'), answer()], { agent: { tools: [tool] } });

    const step = await run.result;

    expect(step.status).toBe('success');
    expect(outcomes(run)).toEqual([
      ['1.1', 'ok'],
      ['1.2', 'error'],
      ['1.3', 'ok'],
    ]);
  });

  it('[row 43] starts as many calls as the limit leaves room for, and ends the run', async () => {
    const { run, script } = startRun([act('a', 'b'), act('c', 'd', 'e', 'f', 'g')], {
      limits: { toolCalls: 5 },
    });

    const step = await run.result;

    script.assertDone();
    expect(outcomes(run).slice(2)).toEqual([
      ['2.1', 'ok'],
      ['2.2', 'ok'],
      ['2.3', 'ok'],
    ]);
    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:tool_calls',
      message: 'limit reached: agent:tool_calls would be 6, the limit is 5',
      usage: { toolCalls: 5 },
      exceededLimit: { value: 5, attempted: 6 },
    });
  });

  it('[row 43] starts another call for one that did not count', async () => {
    const reply = `<action>
- tool: search
  args: { query: a }
- tool: search
  args: {}
- tool: search
  args: { query: c }
- tool: search
  args: { query: d }
- tool: search
  args: { query: e }
</action>`;
    const { run } = startRun([reply], { limits: { toolCalls: 3 } });

    const step = await run.result;

    expect(outcomes(run)).toEqual([
      ['1.1', 'ok'],
      ['1.2', 'rejected'],
      ['1.3', 'ok'],
      ['1.4', 'ok'],
    ]);
    expect([step.status, step.usage.toolCalls]).toEqual(['limit_exceeded', 3]);
  });

  it('[row 43] lets what it started finish', async () => {
    const held = gate();
    const tool = searchTool(async (query, { signal }) => {
      await held.opened;
      return signal.aborted ? 'aborted' : query;
    });
    const { run } = startRun([act('a', 'b')], {
      limits: { toolCalls: 1 },
      agent: { tools: [tool] },
      onEvent: ({ type }) => {
        if (type === 'agent:tool_call:before') held.open();
      },
    });

    await run.result;

    expect(bodiesOf(run.events, 'agent:tool_call:after').map(({ output }) => output)).toEqual([
      'a',
    ]);
  });

  it('[row 44] refuses a call of one tool, and the run goes on', async () => {
    const key = 'agent:tool_calls:search';
    const { run, script } = startRun(
      [actWith(['search', 'a'], ['search', 'b'], ['other', 'c']), answer()],
      {
        agent: { tools: [searchTool(), searchTool(undefined, { name: 'other' })] },
        limits: { custom: [{ kind: 'exact', key, max: 1, onReach: 'refuse' }] },
      },
    );

    const step = await run.result;

    script.assertDone();
    const error = `Error: not run, the limit of 1 for ${key} is reached.`;
    expect(bodiesOf(run.events, 'agent:tool_call:after')[1]).toEqual({
      type: 'agent:tool_call:after',
      callId: '1.2',
      tool: 'search',
      args: { query: 'b' },
      outcome: 'refused',
      started: false,
      error,
      attempts: 0,
      durationMs: 0,
    });
    expect(outcomes(run).at(-1)).toEqual(['1.3', 'ok']);
    expect(JSON.stringify(run.entries[0])).toContain(error);
    expect([step.status, step.exceededLimit]).toEqual(['success', undefined]);
    expect(step.stats.counters).toMatchObject({
      'agent:tool_calls': 2,
      'agent:tool_calls:search': 1,
      'agent:tool_calls_error:search': 1,
      'agent:tool_calls_error_total': 1,
    });
  });

  it('[row 20] tells an unknown tool and counts it under `(unknown)` only', async () => {
    const { run } = startRun([actWith(['serch', 'a']), answer()]);

    const step = await run.result;

    expect(bodiesOf(run.events, 'agent:tool_call:after')).toEqual([
      {
        type: 'agent:tool_call:after',
        callId: '1.1',
        tool: '(unknown)',
        args: { query: 'a' },
        outcome: 'rejected',
        started: false,
        error: 'Error: unknown tool "serch". Did you mean search? Tools: search.',
        attempts: 0,
        durationMs: 0,
      },
    ]);
    const { counters } = step.stats;
    expect(Object.entries(counters).filter(([key]) => key.includes('tool_calls'))).toEqual([
      ['agent:tool_calls_error_total', 1],
      ['$self:agent:tool_calls_error_total', 1],
      ['agent:tool_calls_error:(unknown)', 1],
      ['$self:agent:tool_calls_error:(unknown)', 1],
    ]);
  });

  it('gives the entry the highest importance of its results', async () => {
    const tool = searchTool((query) => toolResult({ output: query, importance: Number(query) }));
    const { run } = startRun([act('3', '10', '-2'), answer()], { agent: { tools: [tool] } });

    await run.result;

    expect(run.entries[0]?.metadata).toEqual({ 'agent:importance_score': 10 });
  });
});

const tools = [
  toolSpec({ name: 'a' }),
  toolSpec({ name: 'b' }),
  toolSpec({ name: 'alone', sequential: true }),
];
const call = (tool: string): { callId: string; tool: string; args: Record<string, never> } => ({
  callId: tool,
  tool,
  args: {},
});

describe('wavesOf', () => {
  it.each([
    { name: 'one wave of parallel calls', calls: 'a b a', waves: ['a b a'] },
    { name: 'a sequential call apart', calls: 'a alone b a', waves: ['a', 'alone', 'b a'] },
    { name: 'two sequential calls apart', calls: 'alone alone', waves: ['alone', 'alone'] },
    { name: 'unknown tools with the others', calls: 'a x b', waves: ['a x b'] },
    { name: 'nothing for nothing', calls: '', waves: [] },
  ])('[row 22] gives $name', ({ calls, waves }) => {
    const names = calls === '' ? [] : calls.split(' ');

    const planned = wavesOf(names.map(call), tools, true);

    expect(planned.map((wave) => wave.map(({ tool }) => tool).join(' '))).toEqual(waves);
  });

  it('[row 22] gives each call a wave of its own without `parallel`', () => {
    expect(wavesOf([call('a'), call('b')], tools, false)).toEqual([[call('a')], [call('b')]]);
  });
});

describe('roomFor', () => {
  const total: Limit = { kind: 'exact', key: 'agent:tool_calls', max: 2 };
  const ofA: Limit = { kind: 'exact', key: 'agent:tool_calls:a', max: 1 };
  const each: Limit = { kind: 'prefix', key: 'agent:tool_calls:', max: 1 };

  it.each<{ name: string; calls: string; limits: Limit[]; fits: number; key: string | null }>([
    { name: 'no limit', calls: 'a b a', limits: [], fits: 3, key: null },
    { name: 'a total', calls: 'a b a', limits: [total], fits: 2, key: 'agent:tool_calls' },
    { name: 'one tool', calls: 'b a a', limits: [ofA], fits: 2, key: 'agent:tool_calls:a' },
    { name: 'a prefix', calls: 'a b b', limits: [each], fits: 2, key: 'agent:tool_calls:b' },
    { name: 'unknown tools', calls: 'x x x', limits: [total], fits: 3, key: null },
    { name: 'a tie', calls: 'b a a', limits: [ofA, total], fits: 2, key: 'agent:tool_calls:a' },
    { name: 'its reverse', calls: 'b a a', limits: [total, ofA], fits: 2, key: 'agent:tool_calls' },
  ])('[row 41] [row 43] knows $name', ({ calls, limits, fits, key }) => {
    const room = roomFor(calls.split(' ').map(call), tools, (keys, inFlight) =>
      wouldCross(limits, EMPTY_STATS, keys, inFlight),
    );

    expect([room.fits, room.breach?.key ?? null]).toEqual([fits, key]);
  });
});
