import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentTool, selfTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { jsonAnswer } from '../../../src/define/agent/reply-layout.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import type { Next } from '../../../src/core/loop/work.ts';
import { valueOf } from '../../../src/core/contract/stats.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import {
  abortOf,
  answer,
  bodiesOf,
  gate,
  hasNoGap,
  searchTool,
  typesOf,
} from '../../support/runs.ts';
import {
  delegate,
  observed,
  ownSums,
  player,
  runsOf,
  taskOf,
  treeCounters,
} from '../../support/trees.ts';

/** A parent that calls agents once, and answers with what it read. */
function asker(
  children: readonly AgentDefinition[],
  ...calls: readonly (readonly [tool: string, task: string])[]
) {
  return player(
    'asker',
    (request) => (request.iteration === 1 ? delegate(...calls) : answer(observed(request))),
    { children },
  );
}

const writer = player('writer', (request) => answer(`a poem on ${taskOf(request)}`));

describe('an agent as a tool', () => {
  it('gives its value, with events, ids, depth and sums [row 55] [row 38]', async () => {
    const agent = asker([writer], ['writer', 'frogs'], ['writer', 'rain']);
    const run = startInMemory({ agent, task: 'Go' });

    const step = await run.result;

    expect([step.status, step.value]).toEqual([
      'success',
      '<writer>\na poem on frogs\n</writer>\n<writer>\na poem on rain\n</writer>',
    ]);
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'tool_call:before',
      'tool_call:before',
      'child:spawn',
      'child:spawn',
      'child:complete',
      'child:complete',
      'tool_call:after',
      'tool_call:after',
      'iteration:after',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(bodiesOf(run.events, 'agent:child:spawn')).toEqual([
      { type: 'agent:child:spawn', childId: 'run-1/1.1', childAgent: 'writer', callId: '1.1' },
      { type: 'agent:child:spawn', childId: 'run-1/1.2', childAgent: 'writer', callId: '1.2' },
    ]);
    expect(bodiesOf(run.events, 'agent:child:complete')[0]).toMatchObject({
      childId: 'run-1/1.1',
      status: 'success',
      reason: 'answered',
      totals: { 'agent:iterations': 1, 'agent:total_tokens': 100 },
      durationMs: 0,
    });
    const [child] = run.children;
    const childStep = await child?.result;
    expect(child?.events[0]).toMatchObject({
      runId: 'run-1/1.1',
      agent: 'writer',
      agentPath: 'asker/1/writer',
      depth: 1,
      seq: 1,
    });
    expect(hasNoGap(child?.events ?? [])).toBe(true);
    expect(childStep?.trace.parent).toEqual({
      workflowId: 'run-1',
      runId: 'run-1',
      agent: 'asker',
      callId: '1.1',
    });
    expect(childStep?.stats.gauges['agent:depth']).toBe(1);
    expect(step.children).toEqual([
      {
        childId: 'run-1/1.1',
        agent: 'writer',
        status: 'success',
        reason: 'answered',
        usage: childStep?.usage,
      },
      {
        childId: 'run-1/1.2',
        agent: 'writer',
        status: 'success',
        reason: 'answered',
        usage: childStep?.usage,
      },
    ]);
    expect(step.usage).toMatchObject({ modelCalls: 4, totalTokens: 400, toolCalls: 2 });
    expect(step.stats.counters).toMatchObject({
      'agent:children': 2,
      'agent:model_calls': 4,
      '$self:agent:model_calls': 2,
      'agent:model_calls:writer/m': 2,
      'agent:tool_calls:writer': 2,
    });
    expect(step.stats.gauges['agent:depth']).toBe(0);
    expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
  });

  it('takes the signature as its parameters, and the arguments as its context [sub 13]', async () => {
    const grader = defineAgent({
      name: 'grader',
      mode: 'json',
      description: 'Grades a review.',
      signature: '(review :string, strict :bool?) -> {score :int}',
      model: {
        id: 'g',
        model: async ({ messages }) => {
          expect(JSON.stringify(messages)).toContain('<data name=\\"review\\">too salty</data>');
          return '{"score": 3}';
        },
      },
    });
    const tool = agentTool({ agent: grader });
    expect(tool.spec).toMatchObject({
      name: 'grader',
      description: 'Grades a review.',
      parameters: {
        type: 'object',
        properties: { review: { type: 'string' }, strict: { type: 'boolean' } },
        required: ['review'],
        additionalProperties: false,
      },
      agent: { agent: 'grader' },
    });
    const call = (args: string) => `<action>\n- tool: grader\n  args: ${args}\n</action>`;
    const agent = player(
      'asker',
      (request) => {
        if (request.iteration === 1) return call('{rating: 1}');
        if (request.iteration === 2) return call('{review: too salty}');
        return answer(observed(request));
      },
      { tools: [tool] },
    );
    const run = startInMemory({ agent, task: 'Go' });

    const step = await run.result;

    expect(step.value).toBe('<grader>\nscore: 3\n</grader>');
    expect(
      bodiesOf(run.events, 'agent:tool_call:after').map(({ outcome, error }) => [
        outcome,
        error?.split('\n')[0],
      ]),
    ).toEqual([
      ['rejected', 'Error: the arguments do not fit grader.'],
      ['ok', undefined],
    ]);
    expect(run.children.map(({ state }) => state.head.context)).toEqual([{ review: 'too salty' }]);
  });

  it.each<{ name: string; child: AgentDefinition; text: string; counted: number }>([
    {
      name: 'at a limit of its own',
      child: player('writer', () => 'nothing to read', { limits: { iterations: 1 } }),
      text: 'Error: writer did not finish: limit_exceeded, $self:agent:iterations. limit reached: $self:agent:iterations would be 2, the limit is 1',
      counted: 1,
    },
    {
      name: 'with an error',
      child: player('writer', () => 'nothing', { onUnparsed: 'fail' }),
      text: 'Error: writer did not finish: error, unparsable_reply. iteration 1: no section was found. The model wrote: "nothing"',
      counted: 1,
    },
    {
      name: 'for its input',
      child: defineAgent({
        name: 'writer',
        prompt: 'On {{topic}}',
        model: { id: 'w', model: async () => answer() },
      }),
      text: 'Error: writer did not finish: error, template_error. missing: {{topic}} (line 1, column 4)',
      counted: 0,
    },
  ])(
    'that ends $name is a tool error, and the parent goes on [row 55]',
    async ({ child, text, counted }) => {
      const run = startInMemory({ agent: asker([child], ['writer', 'x']), task: 'Go' });

      const step = await run.result;

      expect(step.value).toBe(`<writer>\n${text}\n</writer>`);
      expect(valueOf(step.stats, 'agent:model_calls')).toBe(2 + counted);
      expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([
        { outcome: 'error', started: true },
      ]);
      expect(step.exceededLimit).toBeUndefined();
      expect(run.state.children).toEqual([]);
    },
  );

  it('shows its model hidden fields as hidden, and gives programs all [sub 19]', async () => {
    const maker = player(
      'maker',
      () => '<answer>{"n": 1, "_raw": "s3cret", "list": [{"_id": 7}]}</answer>',
      {
        answer: jsonAnswer({ schema: { type: 'object' } }),
      },
    );
    const outputs: unknown[] = [];
    const agent = player(
      'asker',
      (request) => {
        expect(JSON.stringify(request.messages)).not.toContain('s3cret');
        return request.iteration === 1 ? delegate(['maker', 'x']) : answer(observed(request));
      },
      { children: [maker] },
    );
    const run = startInMemory({
      agent,
      task: 'Go',
      onEvent: (event) => {
        if (event.type === 'agent:tool_call:after') outputs.push(event.output);
      },
    });

    const step = await run.result;

    expect(step.value).toBe('<maker>\nn: 1\n_raw: <hidden>\nlist:\n  - _id: <hidden>\n</maker>');
    expect(outputs).toEqual([{ n: 1, _raw: 's3cret', list: [{ _id: 7 }] }]);
  });

  it('is called by name, with its own model, name, parameters and cache [sub 13]', async () => {
    const models: string[] = [];
    const model = (id: string) => ({
      id,
      model: async () => {
        models.push(id);
        return answer(id);
      },
    });
    const poet = defineAgent({ name: 'poet', model: model('own') });
    const agent = player(
      'asker',
      (request) => {
        if (request.iteration < 3)
          return `<action>\n- tool: ask\n  args: {about: frogs}\n</action>`;
        return answer(observed(request));
      },
      {
        tools: [
          agentTool({
            agent: 'poet',
            name: 'ask',
            description: 'Asks the poet.',
            parameters: z.object({ about: z.string() }),
            model: 'other',
            cache: true,
          }),
        ],
      },
    );
    const run = startInMemory({ agent, agents: [poet], models: [model('other')], task: 'Go' });

    const step = await run.result;

    expect(step.value).toBe('<ask>\nother\n</ask>');
    expect(models).toEqual(['other']);
    expect(run.children.map(({ state }) => state.head)).toMatchObject([
      { context: { about: 'frogs' } },
    ]);
    expect(run.state.head.spec.tools[0]).toMatchObject({
      description: 'Asks the poet.',
      cache: true,
    });
  });

  it('overlaps with others of its turn', async () => {
    const open = { a: gate(), b: gate() };
    const slow = player('slow', async (request) => {
      const name = taskOf(request) as 'a' | 'b';
      // Each waits for the other to begin.
      open[name].open();
      await open[name === 'a' ? 'b' : 'a'].opened;
      return answer(name);
    });
    const run = startInMemory({ agent: asker([slow], ['slow', 'a'], ['slow', 'b']), task: 'Go' });

    expect((await run.result).value).toBe('<slow>\na\n</slow>\n<slow>\nb\n</slow>');
  });
});

describe('a tree', () => {
  it('is as deep as its limit, and a refusal says so [row 44] [sub 13]', async () => {
    const depths: number[] = [];
    const agent = player(
      'digger',
      (request) => {
        if (request.iteration > 1) return answer(observed(request));
        depths.push(Number(/hole (\d+)/.exec(JSON.stringify(request.messages))?.[1]));
        return `<action>\n- tool: self\n  args: {hole: hole ${depths.length}}\n</action>`;
      },
      { signature: '(hole :string)  -> :string', tools: [selfTool()] },
    );
    const run = startInMemory({ agent, task: 'Dig', context: { hole: 'hole 0' } });

    const step = await run.result;

    expect(depths).toEqual([0, 1, 2, 3, 4, 5]);
    expect(step.value).toContain('Error: not run, the limit of 5 for agent:depth is reached.');
    expect(runsOf(run).map(({ state }) => state.depth)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(runsOf(run).at(-1)?.state.agentPath).toBe(
      'digger/1/digger/1/digger/1/digger/1/digger/1/digger',
    );
    expect(runsOf(run).at(-1)?.address).toBe('run-1/1.1/1.1/1.1/1.1/1.1');
  });

  it('takes the smaller limit on depth', async () => {
    const leaf = player('leaf', () => answer('leaf'));
    const middle = player(
      'middle',
      (request) => (request.iteration === 1 ? delegate(['leaf', 'x']) : answer(observed(request))),
      { children: [leaf], limits: { depth: 9 } },
    );
    const agent = player(
      'top',
      (request) =>
        request.iteration === 1 ? delegate(['middle', 'x']) : answer(observed(request)),
      { children: [middle], limits: { depth: 1 } },
    );
    const run = startInMemory({ agent, task: 'Go' });

    expect((await run.result).value).toContain(
      'not run, the limit of 1 for agent:depth is reached',
    );
    expect(runsOf(run)).toHaveLength(2);
  });

  it('has as many children as its limit, and a refusal says so [row 44]', async () => {
    const agent = asker([writer], ['writer', 'a'], ['writer', 'b'], ['writer', 'c']);
    const run = startInMemory({ agent, task: 'Go', limits: { children: 2 } });

    const step = await run.result;

    expect(step.value).toBe(
      '<writer>\na poem on a\n</writer>\n<writer>\na poem on b\n</writer>\n' +
        '<writer>\nError: not run, the limit of 2 for agent:children is reached.\n</writer>',
    );
    expect(bodiesOf(run.events, 'agent:tool_call:after').map(({ outcome }) => outcome)).toEqual([
      'refused',
      'ok',
      'ok',
    ]);
    expect(valueOf(step.stats, 'agent:children')).toBe(2);
  });

  it('starts none that its history has no room for, and goes on [row 55]', async () => {
    const agent = asker([writer], ['writer', 'a'], ['writer', 'b'], ['writer', 'c']);
    let spawned = 0;
    const run = startInMemory({
      agent,
      task: 'Go',
      isFull: () => spawned === 2,
      onEvent: ({ type }) => {
        if (type === 'agent:child:spawn') spawned += 1;
      },
    });

    const step = await run.result;

    expect(step.value).toBe(
      '<writer>\na poem on a\n</writer>\n<writer>\na poem on b\n</writer>\n' +
        '<writer>\nError: writer did not finish: error, history_full. It was not started: the history ' +
        'of the run above has no room for it. Ask for fewer at once, or let an agent below ask for them.\n</writer>',
    );
    expect(valueOf(step.stats, 'agent:children')).toBe(2);
  });

  it('waits with more than 200 children at once', async () => {
    let alive = 0;
    let most = 0;
    const opened = gate();
    const worker = player('worker', async () => {
      alive += 1;
      most = Math.max(most, alive);
      if (alive === 200) opened.open();
      await opened.opened;
      alive -= 1;
      return answer('ok');
    });
    const calls = Array.from({ length: 210 }, (_, index) => ['worker', `${index}`] as const);
    const agent = player(
      'asker',
      (request) => (request.iteration === 1 ? delegate(...calls) : answer()),
      { children: [worker], maxCallsPerTurn: 300, limits: { children: 500 } },
    );

    const step = await startInMemory({ agent, task: 'Go' }).result;

    expect([most, step.children.length]).toEqual([200, 210]);
  });

  it('ends as a whole when its root is canceled, with all that was spent [row 2] [row 55]', async () => {
    const asked = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await abortOf(signal);
      throw Object.assign(new Error('stopped'), { usage: { inputTokens: 7, outputTokens: 0 } });
    });
    const middle = player('middle', () => delegate(['leaf', 'x']), { children: [leaf] });
    const run = startInMemory({ agent: asker([middle], ['middle', 'x']), task: 'Go' });
    await asked.opened;

    run.cancel('changed my mind');
    const steps = await Promise.all(runsOf(run).map(({ result }) => result));

    expect(steps.map(({ status, reason, message }) => [status, reason, message])).toEqual([
      ['canceled', 'canceled', 'changed my mind'],
      ['canceled', 'parent_canceled', 'changed my mind'],
      ['canceled', 'parent_canceled', 'changed my mind'],
    ]);
    const [root] = steps;
    expect(root?.usage).toMatchObject({ modelCalls: 3, totalTokens: 207 });
    expect(bodiesOf(run.events, 'agent:tool_call:after')).toMatchObject([
      { outcome: 'canceled', started: true },
    ]);
    expect(root?.children).toMatchObject([{ status: 'canceled', reason: 'parent_canceled' }]);
  });

  it('ends below a run that crosses its limit, which is named [row 45] [row 55]', async () => {
    const clock = createFakeClock();
    const asked = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const run = startInMemory({
      agent: asker([leaf], ['leaf', 'x']),
      task: 'Go',
      clock,
      limits: { activeMs: 1_000 },
    });
    await asked.opened;

    clock.advance(1_001);
    const [root, child] = await Promise.all(runsOf(run).map(({ result }) => result));

    expect(root).toMatchObject({ status: 'limit_exceeded', reason: 'agent:active_ms' });
    expect(child).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:active_ms',
      message: 'limit exceeded: agent:active_ms of asker (run run-1) is 1001, the limit is 1000',
      exceededLimit: { origin: { runId: 'run-1', agent: 'asker' } },
    });
    expect(bodiesOf(run.children[0]?.events ?? [], 'agent:limit_exceeded')).toHaveLength(1);
  });

  it.each([
    { name: 'later', limits: [9_000], arrivals: [0], value: 9_001 },
    { name: 'at no time', limits: ['unlimited'], arrivals: [0], value: null },
    // The newest change counts, in whatever order and how often it comes.
    { name: 'as said last', limits: [20_000, 9_000], arrivals: [1, 0, 1], value: 9_001 },
  ] as const)(
    'ends $name when its root is adjusted [row 46] [sub 13]',
    async ({ limits, arrivals, value }) => {
      const clock = createFakeClock();
      const asked = gate();
      const opened = gate();
      const leaf = player('leaf', async (_request, { signal }) => {
        asked.open();
        await Promise.race([abortOf(signal), opened.opened]);
        if (signal.aborted) throw new Error('stopped');
        return answer('done');
      });
      const middle = player(
        'middle',
        (request) =>
          request.iteration === 1 ? delegate(['leaf', 'x']) : answer(observed(request)),
        { children: [leaf] },
      );
      const posts: (() => void)[] = [];
      const run = startInMemory({
        agent: asker([middle], ['middle', 'x']),
        task: 'Go',
        clock,
        limits: { wallClockMs: 5_000 },
        carry: ({ kind }, deliver) => {
          if (kind !== 'deadlines') return;
          posts.push(deliver);
        },
      });
      await asked.opened;

      for (const wallClockMs of limits) run.adjust({ wallClockMs });
      // To the middle in the order of the test, then what it says below, oldest first.
      for (const place of arrivals) posts[place]?.();
      for (const post of posts.slice(limits.length)) post();
      clock.advance(5_001);
      clock.advance(4_000);
      opened.open();
      const steps = await Promise.all(runsOf(run).map(({ result }) => result));

      const reason = value === null ? 'answered' : 'agent:wall_clock_ms';
      const origin = { runId: 'run-1', agent: 'asker' };
      expect(
        steps.map((step) => [
          step.reason,
          step.exceededLimit?.value ?? null,
          step.exceededLimit?.origin ?? null,
        ]),
      ).toEqual([
        [reason, value, value === null ? null : 'self'],
        [reason, value, value === null ? null : origin],
        [reason, value, value === null ? null : origin],
      ]);
    },
  );

  it('ends at the deadline of its root, also without a word of it [row 46] [sub 13]', async () => {
    const clock = createFakeClock();
    const asked = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const middle = player('middle', () => delegate(['leaf', 'x']), { children: [leaf] });
    const run = startInMemory({
      agent: asker([middle], ['middle', 'x']),
      task: 'Go',
      clock,
      limits: { wallClockMs: 5_000 },
      carry: () => undefined,
    });
    await asked.opened;

    clock.advance(5_001);
    const steps = await Promise.all(runsOf(run).map(({ result }) => result));

    expect(
      steps.map(({ reason, exceededLimit }) => [
        reason,
        exceededLimit?.value,
        exceededLimit?.origin,
      ]),
    ).toEqual([
      ['agent:wall_clock_ms', 5_001, 'self'],
      ['agent:wall_clock_ms', 5_001, { runId: 'run-1', agent: 'asker' }],
      ['agent:wall_clock_ms', 5_001, { runId: 'run-1', agent: 'asker' }],
    ]);
  });

  it('shows what waits below, with path and run [sub 17]', async () => {
    const shy = player(
      'shy',
      (request) =>
        request.iteration === 1
          ? '<action>\n- tool: ask_user\n  args: {question: Which?}\n</action>'
          : answer(observed(request)),
      { askUser: true },
    );
    const run = startInMemory({ agent: asker([shy], ['shy', 'a'], ['shy', 'b']), task: 'Go' });
    for (;;) {
      const seen = await run.resultOrPending();
      if (seen.kind === 'step') throw new Error('Expected a tree that waits.');
      if (seen.pending.length === 2) break;
    }

    expect(run.pending()).toMatchObject([
      { id: '1.1/q1', kind: 'question', agent: 'shy', path: 'asker/1/shy', run: 'run-1/1.1' },
      { id: '1.2/q1', kind: 'question', agent: 'shy', path: 'asker/1/shy', run: 'run-1/1.2' },
    ]);
    run.answer('1.2/q1', 'blue');
    expect(() => run.answer('1.3/q1', 'green')).toThrow(
      'Expected a run `run-1/1.3`, got none of this tree.',
    );
    run.children[0]?.answer('q1', 'red');
    const step = await run.result;

    expect(step.value).toContain('red');
    expect(run.pending()).toEqual([]);
    expect(valueOf(step.stats, 'agent:questions')).toBe(2);
  });

  it('charges a child that died without a word with all that was reserved [row 56]', async () => {
    const asked = gate();
    const leaf = player('leaf', async (request, { signal }) => {
      if (taskOf(request) === 'ok') return answer('fine');
      asked.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const agent = asker([leaf], ['leaf', 'dies'], ['leaf', 'ok']);
    const run = startInMemory({
      agent,
      task: 'Go',
      limits: { totalTokens: 10_000, modelCalls: 31 },
    });
    await asked.opened;

    run.children[0]?.terminate();
    const step = await run.result;

    expect(step.value).toBe(
      '<leaf>\nError: leaf did not finish: error, internal. terminated\n</leaf>\n<leaf>\nfine\n</leaf>',
    );
    const [dead] = bodiesOf(run.events, 'agent:child:complete').filter(
      ({ status }) => status === 'error',
    );
    // A third of what was left: two children started together.
    expect(dead).toMatchObject({
      charged: true,
      totals: { 'agent:total_tokens': 3_300, 'agent:model_calls': 10, 'agent:children': 32 },
    });
    expect(step.usage).toMatchObject({
      totalTokens: 100 + 3_300 + 100 + 100,
      modelCalls: 1 + 10 + 1 + 1,
    });
    expect(step.children.map(({ status }) => status)).toEqual(['error', 'success']);
  });
});

describe('a loop of a user’s own', () => {
  it('starts children that are limited and counted like calls [row 7]', async () => {
    const review: Next = async (work) => {
      const [first, second] = await Promise.all([
        work.spawn('writer', { task: 'frogs' }),
        work.spawn('writer', { task: 'rain', context: { mood: 'glad' } }),
      ]);
      const third = await work.spawn('writer', { task: 'sun' });
      const unknown = await work.spawn('poet', { task: 'x' });
      return { kind: 'end', value: [first, second, third, unknown] as never };
    };
    const agent = player('asker', () => answer(), { tools: [searchTool()] });
    const run = startInMemory({
      agent,
      agents: [writer],
      task: 'Go',
      next: review,
      limits: { children: 3 },
    });

    const step = await run.result;

    expect(step.value).toMatchObject([
      { kind: 'value', value: 'a poem on frogs' },
      { kind: 'value', value: 'a poem on rain' },
      { kind: 'value', value: 'a poem on sun' },
      { kind: 'refused', text: 'Error: not run, the limit of 3 for agent:children is reached.' },
    ]);
    expect(run.children.map(({ address }) => address)).toEqual([
      'run-1/1.spawn-1',
      'run-1/1.spawn-2',
      'run-1/1.spawn-3',
    ]);
    expect(step.usage).toMatchObject({ modelCalls: 3, toolCalls: 0 });
  });
});
