import { describe, expect, it, test } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { fanOut, type FanOutOptions } from '../../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../../src/define/pipeline/define-pipeline.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import { previewPrompt } from '../../../src/registry/preview-prompt.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ModelFunction } from '../../../src/core/contract/model.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { partsTo, readerAgent } from '../../support/fan-outs.ts';
import { jsonStage, stage } from '../../support/pipelines.ts';
import { abortOf, answer, bodiesOf, gate, typesOf } from '../../support/runs.ts';
import { observed, ownSums, player, runsOf, treeCounters } from '../../support/trees.ts';

const reader = readerAgent();

/** A reader that fails when its task is one of `bad`. */
function failingAt(...bad: readonly string[]): AgentDefinition {
  return readerAgent(({ messages }) => {
    const text = lastText(messages);
    if (bad.includes(text)) throw new Error(`cannot read ${text}`);
    return `read ${text}`;
  });
}

function lastText(messages: Parameters<ModelFunction>[0]['messages']): string {
  const last = messages.at(-1);
  return last === undefined ? '' : textOf(last);
}

/** Runs a fan-out over `items`. */
function fan(agent: AgentDefinition, options: FanOutOptions, items: readonly string[]): MemoryRun {
  return startInMemory({ agent: fanOut('readers', agent, options), context: { items } });
}

describe('a fan-out', () => {
  it('runs its agent for each item, a batch to each run, with exact sums [row 55]', async () => {
    const parts = partsTo(300);
    const run = fan(reader, {}, parts);

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', parts.map((part) => `read ${part}`)]);
    expect(run.children.map(({ children }) => children.length)).toEqual(Array(10).fill(30));
    expect(step.stats.counters['agent:children']).toBe(310);
    expect(step.children.map(({ agent, status }) => `${agent} ${status}`)).toEqual(
      Array(10).fill('readers success'),
    );
    expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
    expect(run.children[9]?.children[29]?.events[0]).toMatchObject({
      agentPath: 'readers/1/readers/1/reader',
      depth: 2,
    });
  });

  it('has no history that grows with the list', async () => {
    const lengths = await Promise.all(
      [4, 16, 64].map(async (count) => {
        const run = fan(reader, { batch: 4 }, partsTo(count));
        await run.result;
        return Math.max(...runsOf(run).map(({ events }) => events.length));
      }),
    );

    const own = ['child:spawn', 'child:spawn', 'child:spawn', 'child:spawn'];
    const run = fan(reader, { batch: 4 }, partsTo(16));
    await run.result;
    expect(typesOf(run.events).filter((type) => !type.startsWith('lease:'))).toEqual([
      'execution:before',
      'iteration:before',
      ...own,
      ...own.map(() => 'child:complete'),
      'data:change',
      'iteration:after',
      'execution:after',
    ]);
    // What it asks for of the limit on children comes on top.
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(20);
  });

  it('goes as deep as its batch makes it', async () => {
    const parts = partsTo(9);
    const run = fan(reader, { batch: 2 }, parts);

    const step = await run.result;

    expect(step.value).toEqual(parts.map((part) => `read ${part}`));
    expect(Math.max(...runsOf(run).map(({ state }) => state.depth))).toBe(4);
    expect(Math.max(...runsOf(run).map(({ children }) => children.length))).toBe(2);
  });

  test.each<{ name: string; context: JsonObject; task?: string; value: readonly string[] }>([
    { name: 'no items', context: { items: [] }, value: [] },
    { name: 'text, which is a task', context: { items: ['x', 'y'] }, value: ['x|', 'y|'] },
    {
      name: 'text behind a task of the whole',
      context: { items: ['x'] },
      task: 'Sum up:',
      value: ['Sum up:\n\nx|'],
    },
    {
      name: 'objects, which are context',
      context: { items: [{ input: 'one' }, { input: 'two', task: 'x' }] },
      task: 'Sum up:',
      value: ['Sum up:|one', 'Sum up:\n\nx|two'],
    },
    { name: 'numbers, which are `input`', context: { items: [1, 2] }, value: ['|1', '|2'] },
    { name: 'a list that another run gave', context: { input: ['x'] }, value: ['x|'] },
  ])('takes $name', async ({ context, task, value }) => {
    const show = stage('show', ({ messages }) => lastText(messages), {
      prompt: '{{task}}|{{#input}}{{input}}{{/input}}',
    });
    const agent = fanOut('shows', show);

    const step = await startInMemory({
      agent,
      context,
      ...(task === undefined ? {} : { task }),
    }).result;

    expect([step.status, step.value]).toEqual(['success', value]);
  });

  it('names its agent, knows what that gives, and hands the model of a start on', async () => {
    const count = jsonStage('count', '(text :string) -> {names :int}', { names: 2 });
    const other = { id: 'other', model: () => Promise.resolve('{"names": 3}') };
    const context = { items: partsTo(5).map((text) => ({ text })) };

    const byName = await startInMemory({
      agent: fanOut('counts', 'count', { batch: 2 }),
      agents: [count],
      context,
    }).result;
    const chosen = await startInMemory({
      agent: fanOut('counts', count, { batch: 2 }),
      model: 'other',
      models: [other],
      context,
    }).result;

    expect([byName.signature, byName.value]).toEqual([
      '(items [:any]) -> [:any]',
      Array(5).fill({ names: 2 }),
    ]);
    expect([chosen.signature, chosen.value]).toEqual([
      '(items [{text :string}]) -> [{names :int}]',
      Array(5).fill({ names: 3 }),
    ]);
    expect(chosen.stats.counters['agent:model_calls:other']).toBe(5);
  });

  it('refuses items that do not fit, all at once and before any run', async () => {
    const count = jsonStage('count', '(text :string, page :int) -> :int', { value: 1 });
    const agent: AgentDefinition = fanOut('counts', count);

    const items = [{ text: 'x', page: '2' }, { text: 'y' }, 7, { text: 8, page: 1.5 }];
    const run = startInMemory({ agent, context: { items } });
    const step = await run.result;
    const none = await startInMemory({ agent, context: { items: 'x' } }).result;
    const nothing = await startInMemory({ agent }).result;

    expect([step.reason, step.message]).toEqual([
      'invalid_input',
      [
        '`items[1].page` is required (int).',
        'items[2]: cannot coerce number 7 to record',
        'items[3].text: cannot coerce number 8 to string',
        'items[3].page: cannot coerce number 1.5 to integer',
      ].join('\n'),
    ]);
    expect(run.children).toEqual([]);
    expect(none.message).toBe('items: cannot coerce string "x" to list');
    expect(nothing.message).toBe('`items` is required ([{text string, page int}]).');
  });

  it('refuses a conversation, and has no request to preview', async () => {
    const agent = fanOut('readers', reader);
    const history = [{ role: 'user', text: 'Hi' }] as const;

    expect(() => startInMemory({ agent, context: { items: [] }, history })).toThrow(
      'Expected no `history` for a fan-out, got some. Put what its runs need into `context`.',
    );
    await expect(previewPrompt(agent, { context: { items: [] } })).rejects.toThrow(
      'Expected an agent that asks a model, got the fan-out `readers`. Preview `reader`.',
    );
  });

  test.each<{ name: string; count: number; reason: string }>([
    { name: 'value', count: 5, reason: 'value_too_large' },
    { name: 'part of its value', count: 20, reason: 'chained_failure' },
  ])('ends with a clear error when a $name is too large', async ({ count, reason }) => {
    const long = readerAgent(() => 'x'.repeat(60_000));
    const error = expect.stringMatching(
      /Expected a Step of at most 262144 bytes, got \d+\. Answer with less/,
    );

    for (const onFailure of ['end', 'null'] as const) {
      const step = await fan(long, { batch: 4, onFailure }, partsTo(count)).result;

      expect([step.status, step.reason, step.message]).toEqual(['error', reason, error]);
    }
  });
});

describe('an item that fails', () => {
  it('ends the fan-out, and the runs that are under way', async () => {
    const held = readerAgent(async ({ messages }, { signal }) => {
      if (lastText(messages) === 'part 5') throw new Error('cannot read part 5');
      await abortOf(signal);
      throw signal.reason;
    });
    const run = fan(held, { batch: 3 }, partsTo(7));

    const step = await run.result;

    const below = 'upstream `reader` ended with model_error: iteration 1: cannot read part 5';
    expect([step.reason, step.message]).toEqual([
      'chained_failure',
      `upstream \`readers\` ended with chained_failure: ${below}`,
    ]);
    expect(step.details).toMatchObject({ upstream: { runId: 'run-1/1.spawn-3' } });
    expect(step.children.map(({ reason }) => reason).toSorted()).toEqual([
      'chained_failure',
      'parent_canceled',
      'parent_canceled',
    ]);
  });

  it('is null when so told: the others go on, and a warning says so', async () => {
    const run = fan(failingAt('part 2', 'part 7'), { batch: 3, onFailure: 'null' }, partsTo(7));

    const step = await run.result;

    expect([step.status, step.value]).toEqual([
      'success',
      partsTo(7).map((part) => (/[27]/.test(part) ? null : `read ${part}`)),
    ]);
    const warnings = run.children.flatMap(({ events }) => bodiesOf(events, 'agent:warning'));
    expect(warnings.map(({ code }) => code)).toEqual(['item_failed', 'item_failed']);
    expect(warnings[0]?.message).toBe(
      '1 of 2 children gave no value, null stands for what they were to give. The first: Error: reader did not finish: error, model_error. iteration 1: cannot read part 2',
    );
    expect(bodiesOf(run.events, 'agent:warning')).toEqual([]);
  });

  test.each<{ name: string; end: (part: MemoryRun | undefined) => void; ended: unknown }>([
    {
      name: 'is null for each item of a run in between that was canceled alone',
      end: (part) => part?.cancel('not this one'),
      ended: ['success', ['read part 1', 'read part 2', null, null]],
    },
    {
      name: 'is no run in between: one that was lost ends the fan-out',
      end: (part) => part?.terminate(),
      ended: ['error', null],
    },
  ])('$name', async ({ end, ended }) => {
    const started = gate();
    const held = readerAgent(async ({ messages }, { signal }) => {
      if (lastText(messages) !== 'part 3') return `read ${lastText(messages)}`;
      const aborted = abortOf(signal);
      started.open();
      await aborted;
      throw signal.reason;
    });
    const run = fan(held, { batch: 2, onFailure: 'null' }, partsTo(4));
    await started.opened;

    end(run.children[1]);
    const step = await run.result;

    expect([step.status, step.value]).toEqual(ended);
  });
});

describe('limits of a fan-out', () => {
  test.each<{ name: string; options: FanOutOptions; asked: number; reason: string }>([
    {
      name: 'model calls',
      options: { limits: { modelCalls: 5 } },
      asked: 5,
      reason: 'agent:model_calls',
    },
    {
      name: 'model calls, whatever is said of items that fail',
      options: { limits: { modelCalls: 5 }, onFailure: 'null' },
      asked: 5,
      reason: 'agent:model_calls',
    },
    // 9 items in 3 runs need 12 children, and the shares of 3 more.
    {
      name: 'children, before the first of them',
      options: { limits: { children: 14 } },
      asked: 0,
      reason: 'agent:children',
    },
    {
      name: 'children, with nulls',
      options: { limits: { children: 14 }, onFailure: 'null' },
      asked: 0,
      reason: 'agent:children',
    },
    { name: 'depth', options: { limits: { depth: 1 } }, asked: 0, reason: 'agent:depth' },
    {
      name: 'depth, with nulls',
      options: { limits: { depth: 1 }, onFailure: 'null' },
      asked: 0,
      reason: 'agent:depth',
    },
  ])('end the whole: $name [row 57]', async ({ options, asked, reason }) => {
    const step = await fan(reader, { batch: 3, ...options }, partsTo(9)).result;

    expect([step.status, step.reason, step.exceededLimit?.origin]).toEqual([
      'limit_exceeded',
      reason,
      'self',
    ]);
    expect(step.usage.modelCalls).toBeLessThanOrEqual(asked);
  });

  it.each([15, 16, 20, 40])('%i children are enough for 9 items in 3 runs', async (children) => {
    const step = await fan(reader, { batch: 3, limits: { children } }, partsTo(9)).result;

    expect([step.status, step.stats.counters['agent:children']]).toEqual(['success', 12]);
  });

  it('of a run above end it before its first child, and name that run', async () => {
    const readers = fanOut('readers', reader);
    const split = jsonStage('split', '-> [:string]', { items: partsTo(200) });
    const run = startInMemory({ agent: pipeline('line', [split, readers]), task: 'x' });

    const step = await run.result;

    // The default of the pipeline is 100 children.
    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:children']);
    expect(run.children[1]?.children).toEqual([]);
    expect(step.usage.modelCalls).toBe(1);
  });

  it('lowered while it runs ends nothing that it has room for', async () => {
    const run: MemoryRun = startInMemory({
      agent: fanOut('readers', reader, { batch: 3 }),
      context: { items: partsTo(9) },
      onEvent: ({ type, depth }, { state }) => {
        // The first of three is about to ask for its runs.
        const isSecond =
          type === 'agent:child:spawn' && depth === 0 && state.children?.length === 2;
        if (isSecond) queueMicrotask(() => run.adjust({ children: 15 }));
      },
    });

    const step = await run.result;

    expect([step.status, step.stats.counters['agent:children']]).toEqual(['success', 12]);
  });
});

describe('messages to a fan-out', () => {
  it('a cancel ends all its runs [row 2]', async () => {
    let calls = 0;
    const held = readerAgent(async (_request, { signal }) => {
      const aborted = abortOf(signal);
      calls += 1;
      if (calls === 6) run.cancel('enough');
      await aborted;
      throw signal.reason;
    });
    const run: MemoryRun = fan(held, { batch: 3 }, partsTo(6));

    const step = await run.result;

    expect([step.status, step.message]).toEqual(['canceled', 'enough']);
    const below = await Promise.all(runsOf(run).map(({ result }) => result));
    expect(below.map(({ reason }) => reason)).toEqual([
      'canceled',
      ...Array<string>(8).fill('parent_canceled'),
    ]);
  });

  test.each<{ kind: 'queue' | 'steer' | 'interrupt'; value: readonly string[]; runs: number }>([
    { kind: 'queue', value: ['read a', 'read b'], runs: 2 },
    { kind: 'steer', value: ['read a', 'read b'], runs: 2 },
    { kind: 'interrupt', value: ['read Aloud!\n\na', 'read Aloud!\n\nb'], runs: 4 },
  ])('input of kind $kind lets $runs runs be', async ({ kind, value, runs }) => {
    let isSent = false;
    const held = readerAgent(async ({ messages }, { signal }) => {
      if (!isSent) {
        isSent = true;
        const aborted = abortOf(signal);
        run.send('Aloud!', { kind });
        if (kind === 'interrupt') {
          await aborted;
          throw signal.reason;
        }
      }
      return `read ${lastText(messages)}`;
    });
    const run: MemoryRun = fan(held, {}, ['a', 'b']);

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', value]);
    expect(step.children).toHaveLength(runs);
    expect(step.trace.unreadInputs).toEqual([]);
  });
});

describe('a fan-out among other agents', () => {
  it('is a tool that takes a list', async () => {
    const readers = fanOut('readers', reader, { batch: 2 });
    const tool = agentTool({ agent: readers });
    const agent = player(
      'boss',
      (request) =>
        request.iteration === 1
          ? '<action>\ntool: readers\nargs:\n  items: [a, b, c]\n</action>'
          : answer(observed(request)),
      { tools: [tool] },
    );

    const run = startInMemory({ agent, task: 'Go' });
    const step = await run.result;

    expect(tool.spec.description).toBe('Runs the agent reader once for each item of a list.');
    expect(tool.spec.parameters).toEqual({
      type: 'object',
      properties: {
        items: {
          type: 'array',
          items: {},
          description: 'one run of reader for each: its task as text, with all it must know',
        },
      },
      required: ['items'],
      additionalProperties: false,
    });
    expect(step.value).toContain('read c');
    expect(runsOf(run).map(({ address }) => address)).toEqual([
      'run-1',
      'run-1/1.1',
      'run-1/1.1/1.spawn-1',
      'run-1/1.1/1.spawn-1/1.spawn-1',
      'run-1/1.1/1.spawn-2',
      'run-1/1.1/1.spawn-2/1.spawn-1',
      'run-1/1.1/1.spawn-2/1.spawn-2',
    ]);
  });

  test.each<{ name: string; agent: AgentDefinition; items: JsonObject }>([
    {
      name: 'a signature in words',
      agent: jsonStage('count', '(text :string, page :int?) -> :int', { value: 1 }),
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, page: { type: 'integer' } },
        required: ['text'],
        additionalProperties: false,
      },
    },
    {
      name: 'schemas',
      agent: stage('count', '1', {
        mode: 'json',
        prompt: 'Go.',
        signature: {
          input: { type: 'object', properties: { text: { type: 'string', maxLength: 9 } } },
          output: { type: 'integer' },
        },
      }),
      items: { type: 'object', properties: { text: { type: 'string', maxLength: 9 } } },
    },
  ])('shows what an agent with $name takes', ({ agent, items }) => {
    const { spec } = agentTool({ agent: fanOut('counts', agent) });

    expect(spec.parameters).toMatchObject({ properties: { items: { type: 'array', items } } });
  });

  it('is a stage: its items are the list before it, its list is what comes behind it', async () => {
    const split = jsonStage('split', '-> [:string]', { items: ['a', 'b', 'c'] });
    const join = stage('join', ({ messages }) => lastText(messages), {
      prompt: '{{#input}}<{{.}}>{{/input}}',
    });
    const agent = pipeline('line', [split, fanOut('readers', reader, { batch: 2 }), join]);

    const step = await startInMemory({ agent, task: 'Sum up:' }).result;

    expect([step.status, step.value]).toEqual([
      'success',
      '<read Sum up:\n\na><read Sum up:\n\nb><read Sum up:\n\nc>',
    ]);
  });

  it('is the first stage, and begins with a Step whose value is a list', async () => {
    const split = jsonStage('split', '-> [:string]', { items: ['a', 'b'] });
    const context = await startInMemory({ agent: split, task: 'x' }).result;
    const readers = fanOut('readers', reader);

    const alone = await startInMemory({ agent: readers, context }).result;
    const first = await startInMemory({
      agent: pipeline('line', [readers]),
      context: { items: ['a', 'b'] },
    }).result;

    expect([alone.value, first.value]).toEqual([
      ['read a', 'read b'],
      ['read a', 'read b'],
    ]);
  });

  it('fans out pipelines, and fan-outs', async () => {
    const twice = pipeline('twice', [
      reader,
      stage('again', ({ messages }) => lastText(messages), { prompt: 'again {{input}}' }),
    ]);
    const context = { items: [{ items: ['a', 'b'] }, { items: ['c'] }] };

    const step = await startInMemory({
      agent: fanOut('outer', fanOut('inner', twice)),
      context,
    }).result;

    expect([step.status, step.value]).toEqual([
      'success',
      [['again read a', 'again read b'], ['again read c']],
    ]);
  });
});
