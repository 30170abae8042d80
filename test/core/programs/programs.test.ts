/** Programs in an iteration: their calls, their checks, and what a report says of them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { ToolContext, ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { ToolError } from '../../../src/core/base/tool-error.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import { startPrograms } from '../../support/programs.ts';
import { bodiesOf, gate, searchTool, startRun, typesOf, type Gate } from '../../support/runs.ts';

/** A tool that takes anything and gives what `execute` makes of it. */
function anyTool(
  name: string,
  execute: (args: Readonly<Record<string, unknown>>, context: ToolContext) => unknown,
  fields: Partial<Parameters<typeof defineTool>[0]> = {},
): ToolDefinition {
  return defineTool({
    name,
    description: 'Does something.',
    parameters: { type: 'object', properties: {} },
    retry: { attempts: 1 },
    execute: execute as never,
    ...fields,
  }) as ToolDefinition;
}

/** A tool that fails for the queries that `fails` names. */
function fragile(...fails: readonly string[]): ToolDefinition {
  return searchTool((query) => {
    if (fails.includes(query)) throw new ToolError(`nothing at ${query}`);
    return `hits for ${query}`;
  });
}

/** Ids of the calls that ran, in the order in which they were recorded. */
function callsOf(started: ReturnType<typeof startPrograms>): readonly string[] {
  return bodiesOf(started.run.events, 'agent:tool_call:after').map(
    ({ callId, outcome }) => `${callId} ${outcome}`,
  );
}

describe('a program', () => {
  it('calls tools one after another, each with an id of its own [row 29]', async () => {
    const keys: string[] = [];
    const search = searchTool((query, { idempotencyKey }) => {
      keys.push(`${idempotencyKey} ${query}`);
      return `hits for ${query}`;
    });
    const started = startPrograms(
      ['(let [a (tool/search {:query "a"})] (println a) (tool/search :query (str a "!")))'],
      { agent: { tools: [search] } },
    );

    const step = await started.run.result;

    expect(step).toMatchObject({ status: 'success', value: 'hits for hits for a!' });
    expect(step.notes).toEqual(['hits for a']);
    expect(keys).toEqual(['run-1/1.p1 a', 'run-1/1.p2 hits for a!']);
    expect(typesOf(started.run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'program:before',
      'tool_call:before',
      'tool_call:after',
      'tool_call:before',
      'tool_call:after',
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
    const { fuel = 0 } = started.reports[0] ?? {};
    expect(bodiesOf(started.run.events, 'agent:program:after')).toEqual([
      {
        type: 'agent:program:after',
        programId: '1.p',
        outcome: 'value',
        steps: fuel,
        calls: 2,
        durationMs: 0,
        progress: {
          finished: 1,
          previews: ['"hits for hits for a!"'],
          fuelLimit: 1_000_000,
          notes: 1,
          done: 2,
          failed: 0,
        },
      },
    ]);
    expect(step.stats.counters).toMatchObject({
      'agent:code_executions': 1,
      'agent:program_steps': fuel,
      'agent:tool_calls': 2,
      'agent:tool_calls:search': 2,
    });
    expect(step.stats.counters).not.toHaveProperty('agent:code_executions_error');
  });

  it('runs branches in parallel, and keeps their order whatever ends first [row 29]', async () => {
    const gates: Record<string, Gate<string>> = { a: gate(), b: gate(), c: gate() };
    const search = searchTool((query) => gates[query]?.opened);
    const started = startPrograms(['(pmap #(tool/search {:query %}) ["a" "b" "c"])'], {
      agent: { tools: [search] },
      onEvent: ({ type }) => {
        if (type !== 'agent:tool_call:before') return;
        setImmediate(() => {
          gates['c']?.open('third');
          setImmediate(() => {
            gates['a']?.open('first');
            setImmediate(() => gates['b']?.open('second'));
          });
        });
      },
    });

    const step = await started.run.result;

    expect(step.value).toEqual(['first', 'second', 'third']);
    expect(callsOf(started)).toEqual(['1.p1/2/1 ok', '1.p1/0/1 ok', '1.p1/1/1 ok']);
  });

  it('calls tools from inside of functions, nested as deep as it likes [row 29]', async () => {
    const started = startPrograms([
      '(map (fn [x] (mapv (fn [y] (tool/search {:query (str x y)})) [1 2])) ["a" "b"])',
    ]);

    const step = await started.run.result;

    expect(step.value).toEqual([
      ['hits for a1', 'hits for a2'],
      ['hits for b1', 'hits for b2'],
    ]);
    expect(callsOf(started)).toEqual(['1.p1 ok', '1.p2 ok', '1.p3 ok', '1.p4 ok']);
  });

  it('holds back a tool that is sequential until it is alone', async () => {
    let open = 0;
    let most = 0;
    const search = searchTool(
      async (query) => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return query;
      },
      { sequential: true },
    );
    const started = startPrograms(['(pmap #(tool/search {:query (str %)}) [1 2 3 4])'], {
      agent: { tools: [search] },
    });

    expect((await started.run.result).value).toEqual(['1', '2', '3', '4']);
    expect(most).toBe(1);
  });

  it('recovers from a tool that fails, and its failures are no streak of the run [row 29]', async () => {
    const started = startPrograms(
      [
        '(map (fn [q] (let [r (attempt (tool/search {:query q}))] (or (:ok r) (:message (:error r))))) ["a" "b" "c" "d" "e"])',
      ],
      { agent: { tools: [fragile('a', 'b', 'c', 'd')] } },
    );

    const step = await started.run.result;

    expect(step.status).toBe('success');
    expect(step.value).toEqual([
      ...['a', 'b', 'c', 'd'].map((query) => `\`search\` failed: nothing at ${query}`),
      'hits for e',
    ]);
    expect(valueOf(step.stats, 'agent:tool_calls_error_total')).toBe(4);
    expect(valueOf(step.stats, 'agent:tool_calls_error_consecutive')).toBe(0);
  });

  it('ends by a tool that fails, and names what had been done [row 29]', async () => {
    const started = startPrograms(
      [
        '(def x (tool/search {:query "a"}))\n(tool/search {:query "b"})\n(tool/search {:query "c"})',
        '[data/fail *1 (tool/search {:query "d"})]',
        'data/fail',
      ],
      { agent: { tools: [fragile('c')] } },
    );

    const step = await started.run.result;

    const [first] = started.reports;
    const message = [
      'tool_error at line 3, column 1: `search` failed: nothing at c',
      '   3 | (tool/search {:query "c"})',
      '     | ^^^^^^^^^^^^^^^^^^^^^^^^^^',
    ].join('\n');
    expect(first).toEqual({
      programId: '1.p',
      outcome: 'error',
      preview: '',
      isEmpty: true,
      error: {
        reason: 'tool_error',
        phase: 'run',
        message,
        details: { reason: 'error', tool: 'search', effect: '3', done: ['1', '2'] },
      },
      notes: [],
      warnings: [],
      changed: [],
      stored: [],
      done: [{ tool: 'search', count: 2 }],
      plan: {},
      hidden: [],
      fuel: first?.fuel,
      calls: 3,
    });
    expect(started.reports[1]?.value).toEqual([
      { reason: 'tool_error', message },
      null,
      'hits for d',
    ]);
    expect(step.value).toBe(null);
    expect(step.stats.counters).toMatchObject({
      'agent:code_executions': 3,
      'agent:code_executions_error': 1,
    });
    expect(valueOf(step.stats, 'agent:code_executions_error_consecutive')).toBe(0);
    expect(bodiesOf(started.run.events, 'agent:program:after')[0]).toMatchObject({
      outcome: 'error',
      error: { reason: 'tool_error', message },
    });
  });

  it.each([
    {
      name: 'an unknown tool made at run time',
      source: '(let [f (get {:a tool/search} :a)] (f {:query 5}))',
      reason: 'invalid_tool_args',
      message: 'the arguments do not fit search.',
    },
    {
      name: 'what has no JSON form',
      source: '(tool/search {:query inc})',
      reason: 'invalid_tool_args',
      message: '`search`, `query`:',
    },
  ])('is told of $name', async ({ source, reason, message }) => {
    const started = startPrograms([source]);

    await started.run.result;

    expect(started.reports[0]?.error).toMatchObject({ reason });
    expect(started.reports[0]?.error?.message).toContain(message);
  });

  it('tells all that is wrong at once, before anything runs [row 29]', async () => {
    const order = anyTool('order', () => 'ordered', {
      parameters: {
        type: 'object',
        properties: {
          count: { type: 'integer', minimum: 1 },
          size: { enum: ['s', 'm'] },
          items: {
            type: 'array',
            items: { type: 'object', properties: { id: { type: 'integer' } } },
          },
        },
        required: ['count'],
        additionalProperties: false,
      },
    });
    const source = [
      '(tool/order {:count "ten"})',
      '(tool/order {:count 0 :size "xl"})',
      '(tool/order {:count 1 :items [{:id 1} {:id "two"}] :colour "red"})',
      '(tool/order {})',
      '(tool/ordr {:count 1})',
      '(undefined-thing)',
      '(ask_user "?")',
      '(tool/ask_user {:question "" :timeout-ms 0})',
    ].join('\n');
    const started = startPrograms([source], { agent: { tools: [order], askUser: true } });

    const step = await started.run.result;

    const { error, fuel, calls } = started.reports[0] ?? {};
    expect([error?.reason, error?.phase, fuel, calls]).toEqual([
      'invalid_tool_args',
      'check',
      0,
      0,
    ]);
    const problems = (error?.message ?? '').split('\n').filter((line) => /^\d+\. /.test(line));
    expect(problems).toEqual([
      '1. invalid_tool_args at line 1, column 21: `order` expects `count` to be an integer, got a string "ten".',
      '2. invalid_tool_args at line 2, column 21: `order` expects `count` to be a number >= 1, got a number 0.',
      '3. invalid_tool_args at line 2, column 29: `order` expects `size` to be one of "s", "m", got a string "xl".',
      '4. invalid_tool_args at line 3, column 30: `order` expects `items.1.id` to be an integer, got a string "two".',
      '5. invalid_tool_args at line 3, column 52: `order` has no argument `colour`.',
      '6. invalid_tool_args at line 4, column 1: `order` needs `count`.',
      '7. unknown_tool at line 5, column 2: There is no tool `ordr`. Did you mean `order`? Tools: order, ask_user.',
      '8. unbound_var at line 6, column 2: `undefined-thing` is not defined.',
      expect.stringContaining('9. unbound_var at line 7, column 2: `ask_user` is not defined.'),
      expect.stringContaining(
        '10. invalid_tool_args at line 8, column 27: `ask_user` expects `question` to have',
      ),
    ]);
    expect(error?.message).toContain('and 1 more.');
    expect(valueOf(step.stats, 'agent:code_executions_error')).toBe(1);
    expect(valueOf(step.stats, 'agent:program_steps')).toBe(0);
    expect(typesOf(started.run.events)).not.toContain('tool_call:before');
  });

  it('reads no more than its text: a parse error is told with its place', async () => {
    const started = startPrograms(['(+ 1', '(str data/task " " (count data/rows) " " data/fail)'], {
      context: { rows: [1, 2, 3] },
    });

    await started.run.result;

    expect(started.reports[0]?.error).toMatchObject({ reason: 'parse_error', phase: 'read' });
    expect(started.reports[1]?.value).toMatch(/^Go 3 \{"message" ".*" "reason" "parse_error"\}$/s);
  });

  it.each([
    {
      name: 'a map with names of JavaScript',
      output: JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": [3]}') as unknown,
      source:
        '(let [r (tool/get {})] [(get-in r ["__proto__" "x"]) (:constructor r) (get r "toString") (:hasOwnProperty r)])',
      value: [1, 2, [3], null],
    },
    { name: 'nothing', output: undefined, source: '(nil? (tool/get {}))', value: true },
    {
      name: 'a text that is too long, cut',
      output: 'x'.repeat(2_000),
      source: '(subs (tool/get {}) 1020)',
      value: 'xxxx\n[cut: 1024 of 2000 bytes shown]',
    },
    {
      name: 'a JSON value that is too large, refused',
      output: { rows: Array.from({ length: 300 }, (_, index) => index) },
      source: '(:message (:error (attempt (tool/get {}))))',
      value:
        '`get` failed: the result of get has 1100 bytes, at most 1024 are allowed. Ask for less.',
    },
    {
      name: 'deeply nested arrays',
      output: JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as unknown,
      source: '(count (tool/get {}))',
      value: 1,
    },
  ])('takes what a tool returns as data: $name', async ({ output, source, value }) => {
    const get = anyTool('get', () => output, { maxResultBytes: 1_024 });
    const started = startPrograms([source], { agent: { tools: [get] } });

    const step = await started.run.result;

    expect(started.reports[0]?.error).toBe(undefined);
    expect(step.value).toEqual(value);
  });

  it('is told why a result was refused', async () => {
    const get = anyTool('get', () => ({ rows: 'x'.repeat(2_000) }), { maxResultBytes: 1_024 });
    const started = startPrograms(['(tool/get {})'], { agent: { tools: [get] } });

    await started.run.result;

    expect(started.reports[0]?.error?.details).toEqual({
      reason: 'result_too_large',
      tool: 'get',
      effect: '1',
      done: [],
    });
  });

  it('drops what it does not need any more: a failed branch ends those behind it', async () => {
    const aborted: string[] = [];
    const search = searchTool(async (query, { signal }) => {
      if (query === 'bad') throw new ToolError('broken');
      if (query === 'first') return 'first';
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.push(query);
      throw new Error('stopped');
    });
    const started = startPrograms(
      [
        '(attempt (pmap #(tool/search {:query %}) ["first" "bad" "slow" "slower"]))',
        '(ask "never asked") ',
      ],
      { agent: { tools: [search] } },
    );

    const step = await started.run.result;

    expect(started.reports[0]?.value).toEqual({
      error: {
        reason: 'pmap_error',
        index: 1,
        tool: 'search',
        message: 'Branch 1 of `pmap` failed: `search` failed: broken',
      },
    });
    expect(aborted).toEqual(['slow', 'slower']);
    expect(callsOf(started).toSorted()).toEqual([
      '1.p1/0/1 ok',
      '1.p1/1/1 error',
      '1.p1/2/1 canceled',
      '1.p1/3/1 canceled',
    ]);
    // Without `askUser` there is nobody to ask.
    expect(started.reports[1]?.error).toMatchObject({ reason: 'unknown_tool' });
    expect(step.status).toBe('success');
  });

  it('knows what it may still use', async () => {
    const started = startPrograms(['(tool/search {:query "a"})', 'budget/remaining'], {
      limits: { toolCalls: 10, totalTokens: 500, costUsd: 2, wallClockMs: 60_000, iterations: 7 },
    });

    await started.run.result;

    expect(started.reports[1]?.value).toEqual({
      turns: 5,
      work_turns: null,
      retry_turns: null,
      tool_calls: 9,
      total_tokens: 500,
      cost_micro_usd: 2_000_000,
      wall_clock_ms: 60_000,
      depth: { current: 0, max: 5 },
      tokens: { input: 0, output: 0, total: 0 },
      llm_requests: 0,
      fuel: 999_999,
    });
  });

  it('ends its loop like any other work: what a loop leaves in flight is ended', async () => {
    const aborted: string[] = [];
    const search = searchTool(async (query, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.push(query);
      return query;
    });
    const { run } = startRun([], {
      agent: { tools: [search], askUser: true },
      next: async (work) => {
        void work.program({
          source: '(pcalls #(tool/search {:query "a"}) #(ask "Who?") #(sleep 1000))',
          programId: '1.p',
        });
        await new Promise((resolve) => setImmediate(resolve));
        return { kind: 'end', value: 'left' };
      },
    });

    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: 'left' });
    expect(aborted).toEqual(['a']);
    expect(typesOf(run.events).slice(-4)).toEqual([
      'tool_call:after',
      'program:after',
      'iteration:after',
      'execution:after',
    ]);
    expect(bodiesOf(run.events, 'agent:program:after')).toMatchObject([{ outcome: 'canceled' }]);
  });

  it('takes no arguments for a tool that has none', async () => {
    const ping = defineTool({ name: 'ping', description: 'Pings.', execute: () => 'pong' });
    const started = startPrograms(['(tool/ping)', '(tool/ping {:loud true})'], {
      agent: { tools: [ping as ToolDefinition] },
    });

    await started.run.result;

    expect(started.reports[0]?.value).toBe('pong');
    expect(started.reports[1]?.error?.message).toContain('`ping` has no argument `loud`.');
  });

  it('is checked against what a Standard Schema object says', async () => {
    const pick = defineTool({
      name: 'pick',
      description: 'Picks.',
      parameters: z.object({ how: z.enum(['first', 'last']), many: z.number().int().optional() }),
      execute: ({ how }) => how,
    });
    const started = startPrograms(
      ['(tool/pick {:how :middle :many 1.5})', '(tool/pick {:how :last})'],
      {
        agent: { tools: [pick as ToolDefinition] },
      },
    );

    await started.run.result;

    expect(started.reports[0]?.error?.message).toContain(
      '`pick` expects `how` to be one of "first", "last", got a string "middle".',
    );
    expect(started.reports[0]?.error?.message).toContain(
      '`pick` expects `many` to be an integer, got a number 1.5.',
    );
    expect(started.reports[1]?.value).toBe('last');
  });
});
