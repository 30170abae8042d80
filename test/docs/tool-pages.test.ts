/** The pages about tools: their code is that of examples which run here. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { desk, deskWithEngine } from '../../examples/docs/tool-search.ts';
import {
  clerk,
  orderTool,
  outlineTool,
  parcelTool,
  placeTool,
  refundTool,
  sorter,
  stockTools,
  weatherTool,
} from '../../examples/docs/tools.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { textOf } from '../../src/core/base/message.ts';
import { keptParts } from '../../src/core/streaming/page-parts.ts';
import type {
  JsonObject,
  ModelReply,
  ModelRequest,
  Part,
  ToolDefinition,
} from '../../src/index.ts';
import { createIsolation } from '../../src/tools/isolate/create-isolation.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { agentWith, quietSignal, toolOrder } from '../define/agents.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { streamingModel } from '../support/streamed-calls.ts';

describe('docs', () => {
  test.each([
    { page: 'tools', examples: ['tools', 'tools-outline'] },
    { page: 'tool-search', examples: ['tool-search'] },
  ])('$page.md quotes its examples', ({ page, examples }) => {
    const regions = examples.flatMap((example) => [...regionsOf(example)]);

    expect(blocksOf(page)).toEqual(new Map(regions));
  });
});

/** What the model reads: the tools that are declared, and all messages with their results. */
function readIn(request: ModelRequest | undefined): string {
  const textsOf = (part: Part): readonly string[] =>
    part.type === 'tool_result'
      ? part.parts.flatMap(textsOf)
      : [textOf({ role: 'tool', parts: [part] })];
  const { tools = [], messages = [] } = request ?? {};
  return [
    ...tools.map(({ name, description }) => `- ${name}: ${description}`),
    ...messages.flatMap(({ parts }) => parts.flatMap(textsOf)),
  ].join('\n');
}

/** A reply that calls one tool. */
function calls(name: string, args: JsonObject): ModelReply {
  return { toolCalls: [{ name, args }] };
}

describe('the examples', () => {
  test('tools: arguments changed by middleware, results kept', async () => {
    const call = '# action\n{"tool": "price", "args": {"product": "MOUSE"}}';
    const script = scriptedModel([call, call, '# answer\ndone']);

    const step = await startInMemory({ agent: clerk(script.model), task: 'Go' }).result;

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    expect(step.stats.counters).toMatchObject({ 'shop:prices': 1, 'agent:tool_calls:price': 2 });
    expect(script.requests.map(({ settings }) => settings)).toEqual([
      { temperature: 0 },
      { temperature: 0 },
      { temperature: 0 },
    ]);
    const [first, second] = script.requests
      .slice(1)
      .map(({ messages }) => textOf(messages.at(-2) ?? messages[0] ?? { role: 'user', parts: [] }));
    expect(first).toContain('{"product":"mouse","usd":79.99}');
    expect(second).toBe(first);
  });

  test('tools: a schema that was parsed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everloop-schema-'));
    const file = join(folder, 'order.json');
    const properties = { part: { type: 'string' }, count: { type: 'integer' } };
    await writeFile(file, JSON.stringify({ type: 'object', properties, required: ['part'] }));
    const tool = orderTool(file);
    await rm(folder, { recursive: true });
    const script = scriptedModel([
      calls('order', { part: 'bolt', count: 'two' }),
      calls('order', { part: 'bolt', count: 2 }),
      'done',
    ]);
    const tools = [tool as ToolDefinition];
    const agent = defineAgent({ name: 'buyer', mode: 'chat', model: script.model, tools });

    await startInMemory({ agent, task: 'Go' }).result;

    expect(readIn(script.requests.at(-1))).toContain('count: expected integer, got string "two"');
    expect(readIn(script.requests.at(-1))).toContain('{"ordered":"bolt","count":2}');
  });

  test('tools: the types of parsed schemas are as the page says', () => {
    const common = { name: 'order', description: 'Orders.' };
    const parsed = JSON.parse('{"type": "object"}') as JsonObject;
    const record: Record<string, unknown> = { type: 'object' };

    defineTool({ ...common, parameters: parsed, execute: ({ part = null }) => part });
    defineTool({
      ...common,
      parameters: JSON.parse('{"type": "object"}'),
      // @ts-expect-error Arguments of type unknown have no fields.
      execute: ({ part }) => part,
    });
    // @ts-expect-error A record of unknown values need not be JSON.
    defineTool({ ...common, parameters: record, execute: () => null });
  });

  test('tools: a tool that knows its run', async () => {
    const script = scriptedModel([
      ...['a', 'b', 'c', 'd'].map((order) => calls('refund', { order })),
      'done',
    ]);
    const agent = defineAgent({
      name: 'shop',
      mode: 'chat',
      model: script.model,
      tools: [refundTool()],
    });
    const run = startInMemory({ agent, task: 'Go', context: { _customer: 'Ann' } });
    const step = await run.result;

    const read = readIn(script.requests.at(-1));
    expect(read).toContain('"customer":"Ann","reportTo":"run-1"');
    expect(read).toContain('Error: three refunds are open already');
    expect(step.stats.gauges['shop:refunds_open']).toBe(3);
  });

  test('tools: a part of the page, and a tool that the page executes', async () => {
    const script = scriptedModel([
      calls('weather', { city: 'Rome' }),
      calls('place', { exact: true }),
      'done',
    ]);
    const tools = [weatherTool(async () => ({ sky: 'clear' })), placeTool()];
    const agent = defineAgent({ name: 'guide', mode: 'chat', model: script.model, tools });
    const run = startInMemory({ agent, task: 'Go' });
    await run.resultOrPending();
    run.answer('2.1', { city: 'Rome' });
    await run.result;

    expect(keptParts(run.events)).toMatchObject([
      { type: 'weather:card', id: 'Rome', data: { city: 'Rome', sky: 'clear' } },
    ]);
    expect(readIn(script.requests.at(-1))).toContain('{"city":"Rome"}');
  });

  test('tools: calls that repeat, of a tool that says so', async () => {
    const look = calls('parcel', { order: 'A-7' });
    const script = scriptedModel([...Array.from({ length: 12 }, () => look), 'It is here.']);
    const tool = parcelTool(async () => 'on its way');
    const agent = defineAgent({ name: 'desk', mode: 'chat', model: script.model, tools: [tool] });

    const step = await startInMemory({ agent, task: 'Go' }).result;

    expect(step).toMatchObject({ status: 'success', usage: { toolCalls: 12 } });
  });

  test('tools: a quick read runs while the model writes, another one after it', async () => {
    const happened: string[] = [];
    let look = (): void => undefined;
    const looked = new Promise<void>((resolve) => (look = resolve));
    const tools = stockTools(
      async (product) => (look(), happened.push(`stock of ${product}`)),
      async (product) => `audit ${happened.push(`audit of ${product}`)}`,
    );
    const product = { product: 'mouse' };
    // Its first reply ends only when `in_stock` has run.
    const model = streamingModel(({ number }) =>
      number > 1
        ? [{ text: 'done' }]
        : [
            { call: 'audit_stock', args: product },
            { call: 'in_stock', args: product },
            { wait: looked.then(() => happened.push('the reply is whole')) },
          ],
    );
    const agent = defineAgent({ name: 'shop', mode: 'chat', model: { id: 'm', model }, tools });

    const run = startInMemory({ agent, task: 'Go' });

    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 2 } });
    expect(happened).toEqual(['stock of mouse', 'the reply is whole', 'audit of mouse']);
  });

  test('tools: code in a thread', async () => {
    const isolation = createIsolation(1);
    const order = toolOrder('outline', { text: '# One\nText\n## Two' });
    const run = await runTool(agentWith(outlineTool() as ToolDefinition), order, {
      attempt: 1,
      run: 'run-1',
      signal: quietSignal(),
      places: { isolation, apart: { isolation } },
    });
    await isolation.close();

    expect(run).toMatchObject({
      result: { output: ['# One', '## Two'], counts: { 'shop:outlines': 1 } },
    });
  });

  test('tool search: an area in the prompt, a hit, a call', async () => {
    const script = scriptedModel([
      calls('tool_registry_search', { query: 'rebook' }),
      calls('move_booking', { booking_id: 'BK1', flight: 'AA102' }),
      'done',
    ]);

    const step = await startInMemory({ agent: desk(script.model), task: 'Go' }).result;

    expect(step.status).toBe('success');
    const prompt = readIn(script.requests[2]);
    expect(prompt).toContain(
      'There are 2 tools in these areas:\n- Booking (change): 1 tool\n- Policy: 1 tool\n' +
        'Find the ones you need with tool_registry_search, then call them like any other tool.',
    );
    expect(prompt).toContain('- move_booking: Move a booking to another flight.');
    expect(prompt).toContain('BK1 is on AA102');
  });

  test('LLM tools: a question to a model of its own', async () => {
    const small = scriptedModel([
      '{"department": "billing", "urgent": "yes"}',
      '{"department": "billing", "urgent": true}',
    ]);
    const script = scriptedModel([
      calls('classify', { mail: 'My bill is wrong.' }),
      calls('llm_query', { prompt: 'Greet {{name}}', name: 'Ann' }),
      'Hello Ann.',
      'done',
    ]);

    const step = await startInMemory({ agent: sorter(script.model, small.model), task: 'Go' })
      .result;

    expect([step.status, step.usage.modelCalls]).toEqual(['success', 6]);
    expect(small.requests[0]?.messages.map(textOf).join('\n')).toContain(
      '# Task\nWhich department should answer this mail?\nMy bill is wrong.\n',
    );
    expect(readIn(script.requests[1])).toContain('{"department":"billing","urgent":true}');
  });

  test("an engine of a user's own", async () => {
    const script = scriptedModel([
      calls('tool_registry_search', { query: 'read', query_type: 'beginning' }),
      'done',
    ]);

    await startInMemory({ agent: deskWithEngine(script.model), task: 'Go' }).result;

    const prompt = readIn(script.requests[1]);
    expect(prompt).toContain('Page 1 of 1, 1 tools.');
    expect(prompt).toContain('- beginning: how the name of the tool begins, for example "move"');
  });
});
