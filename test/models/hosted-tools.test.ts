/** Tools that providers run: what goes out, what comes back, what is counted, and who gets none of it. */
import * as anthropic6 from '@ai-sdk/anthropic';
import * as anthropic7 from '@ai-sdk-7/anthropic';
import * as google6 from '@ai-sdk/google';
import * as google7 from '@ai-sdk-7/google';
import * as openai6 from '@ai-sdk/openai';
import * as openai7 from '@ai-sdk-7/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import { startInMemory } from '../../src/testing.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { AgentModel } from '../../src/define/model/model-entry.ts';
import type { AiTool } from '../../src/define/tool/hosted-tool.ts';
import { AI_SDK, modelAt, sse, startPlainServer, type Protocol } from '../support/aimock.ts';

const { openai } = AI_SDK === 7 ? openai7 : openai6;
const { anthropic } = AI_SDK === 7 ? anthropic7 : anthropic6;
const { google } = AI_SDK === 7 ? google7 : google6;

const WEATHER = 'https://weather.example/vienna';
const FOUND = { type: 'web_search_result', url: WEATHER, title: 'Vienna' };
const SEARCHES: Readonly<Record<Searching, AiTool>> = {
  'openai-responses': openai.tools.webSearch({ searchContextSize: 'low' }),
  anthropic: anthropic.tools.webSearch_20250305({ maxUses: 2 }),
  google: google.tools.googleSearch({}),
};
const NAMES: Readonly<Record<Searching, string>> = {
  'openai-responses': 'web_search',
  anthropic: 'web_search_20250305',
  google: 'google_search',
};
const searching = ['openai-responses', 'anthropic', 'google'] as const;
type Searching = (typeof searching)[number];

/** A search, a sentence with a source, and perhaps a call of `note`, in the form of each protocol. */
function reply(protocol: Searching, text: string, notes: boolean): string {
  switch (protocol) {
    case 'openai-responses':
      return responses(text, notes);
    case 'anthropic':
      return messages(text, notes);
    case 'google':
      return gemini(text, notes);
  }
}

function responses(text: string, notes: boolean): string {
  const search = { id: 'ws_1', type: 'web_search_call' };
  const action = { type: 'search', query: 'Vienna', sources: [{ type: 'url', url: WEATHER }] };
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
  const annotation = {
    type: 'url_citation',
    start_index: 0,
    end_index: 4,
    url: WEATHER,
    title: 'Vienna',
  };
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'note',
    arguments: '{}',
  };
  const item = (output_index: number, added: object, done: object): object[] => [
    { type: 'response.output_item.added', output_index, item: added },
    { type: 'response.output_item.done', output_index, item: done },
  ];
  return sse([
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
    ...item(0, { ...search, status: 'in_progress' }, { ...search, status: 'completed', action }),
    { type: 'response.output_item.added', output_index: 1, item: message },
    {
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 1,
      content_index: 0,
      delta: text,
    },
    {
      type: 'response.output_text.annotation.added',
      item_id: 'msg_1',
      output_index: 1,
      content_index: 0,
      annotation_index: 0,
      annotation,
    },
    { type: 'response.output_item.done', output_index: 1, item: message },
    ...(notes
      ? item(2, { ...call, arguments: '', status: 'in_progress' }, { ...call, status: 'completed' })
      : []),
    {
      type: 'response.completed',
      response: { id: 'r', usage: { input_tokens: 10, output_tokens: 5 } },
    },
  ]);
}

function messages(text: string, notes: boolean): string {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const blocks = [
    {
      content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      delta: { type: 'input_json_delta', partial_json: '{"query":"Vienna"}' },
    },
    {
      content_block: {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ ...FOUND, encrypted_content: 'sealed', page_age: null }],
      },
    },
    {
      content_block: { type: 'text', text: '', citations: [] },
      delta: {
        type: 'citations_delta',
        citation: {
          type: 'web_search_result_location',
          url: WEATHER,
          title: 'Vienna',
          cited_text: 'Rain',
          encrypted_index: 'sealed',
        },
      },
    },
    { content_block: { type: 'text', text: '' }, delta: { type: 'text_delta', text } },
    ...(notes
      ? [
          {
            content_block: { type: 'tool_use', id: 'toolu_1', name: 'note', input: {} },
            delta: { type: 'input_json_delta', partial_json: '{}' },
          },
        ]
      : []),
  ];
  return sse([
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    ...blocks.flatMap(({ content_block, delta }, index) => [
      { type: 'content_block_start', index, content_block },
      ...(delta === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: notes ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
    },
    { type: 'message_stop' },
  ]);
}

function gemini(text: string, notes: boolean): string {
  const groundingMetadata = {
    webSearchQueries: ['Vienna'],
    searchEntryPoint: { renderedContent: '<p></p>' },
    groundingChunks: [{ web: { uri: WEATHER, title: 'Vienna' } }],
    groundingSupports: [{ segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0] }],
  };
  const parts = [{ text }, ...(notes ? [{ functionCall: { name: 'note', args: {} } }] : [])];
  const content = { role: 'model', parts };
  return sse([
    {
      candidates: [{ index: 0, content, finishReason: 'STOP', groundingMetadata }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    },
  ]);
}

const note = defineTool({
  name: 'note',
  description: 'Notes it.',
  parameters: z.object({}),
  execute: () => 'noted',
});

interface Asked {
  readonly step: Step;
  readonly bodies: readonly string[];
  readonly events: readonly AgentEvent[];
}

/** A run of two replies, of which the first calls a tool of ours as well. */
async function asked(
  protocol: Searching,
  entry: (model: AgentModel) => AgentModel = (model) => model,
): Promise<Asked> {
  const bodies: string[] = [];
  const server = await startPlainServer((_request, response, body) => {
    bodies.push(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      reply(protocol, bodies.length > 1 ? 'Take a coat.' : 'Rain.', bodies.length === 1),
    );
  });
  const events: AgentEvent[] = [];
  const model = entry(modelAt(server.url, protocol, protocol === 'google' ? 'gemini-3-pro' : 'm'));
  const agent = defineAgent({ name: 'a', mode: 'chat', model, tools: [SEARCHES[protocol], note] });
  const step = await startInMemory({
    agent,
    task: 'Weather?',
    onEvent: (event) => void events.push(event as AgentEvent),
  }).result;
  await server.stop();
  return { step, bodies, events };
}

const after = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'agent:model_call:after' ? [event] : []));

describe('a hosted tool', () => {
  it.each(searching)(
    'is offered, counted and named, and its source is in the Step: %s',
    async (protocol) => {
      const { step, bodies, events } = await asked(protocol);

      expect([step.status, step.value]).toEqual(['success', 'Take a coat.']);
      expect(bodies[0]).toMatch(/"type":"web_search|"googleSearch":\{\}/);
      expect(bodies[0]).toContain('"note"');
      // The adapter of the AI SDK 7 for OpenAI names a page once, by what the search found.
      const source = expect.objectContaining({ url: WEATHER }) as object;
      expect(step.sources).toEqual([source]);
      const [first] = after(events);
      expect(first?.hosted).toEqual({ [NAMES[protocol]]: 1 });
      expect(first?.sources).toEqual([source]);
      expect(step.stats.counters).toMatchObject({
        'agent:hosted_calls': 2,
        [`agent:hosted_calls:${NAMES[protocol]}`]: 2,
        'agent:hosted_calls_unpriced': 2,
        'agent:tool_calls': 1,
      });
      expect(step.usage.unpricedCalls).toBe(2);
    },
  );

  it('goes back to Claude as it came', async () => {
    const { bodies } = await asked('anthropic');

    const { messages: sent } = JSON.parse(bodies[1] ?? '') as {
      readonly messages: readonly { readonly content: readonly { readonly type: string }[] }[];
    };
    expect(sent[1]?.content.map(({ type }) => type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'text',
      'tool_use',
    ]);
    expect(bodies[1]).toContain('"encrypted_content":"sealed"');
  });

  it('costs what its entry says', async () => {
    const price = { input: 1, output: 1 };
    const { step } = await asked('anthropic', (model) => ({
      id: 'm',
      model: model as never,
      price,
      hostedPrice: { web_search_20250305: 0.01 },
    }));

    // Two searches, and two times ten tokens in and five out.
    expect(step.usage.costMicroUsd).toBe(20_030);
    expect(step.usage.unpricedCalls).toBeUndefined();
  });

  it.each(['openai-compatible', 'openai-chat'] as const)(
    'is left out for a provider that does not run it, with one warning: %s',
    async (protocol: Protocol) => {
      const bodies: string[] = [];
      const chunk = (delta: object, finish_reason: string | null = null) => ({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      });
      const call = {
        index: 0,
        id: 'c1',
        type: 'function',
        function: { name: 'note', arguments: '{}' },
      };
      const server = await startPlainServer((_request, response, body) => {
        bodies.push(body);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const isFirst = bodies.length === 1;
        const delta = isFirst ? { role: 'assistant', tool_calls: [call] } : { content: 'Rain.' };
        response.end(sse([chunk(delta), chunk({}, isFirst ? 'tool_calls' : 'stop')]));
      });
      const events: AgentEvent[] = [];
      const tools = [...Object.values(SEARCHES), note];
      const agent = defineAgent({
        name: 'a',
        mode: 'chat',
        model: modelAt(server.url, protocol),
        tools,
      });

      const step = await startInMemory({
        agent,
        task: 'Weather?',
        onEvent: (event) => void events.push(event as AgentEvent),
      }).result;

      expect([step.status, bodies.length]).toEqual(['success', 2]);
      expect(bodies.join('')).not.toContain('search');
      const codes = events.flatMap((event) => (event.type === 'agent:warning' ? [event.code] : []));
      expect(codes).toEqual(Array(3).fill('hosted_tool_left_out'));
    },
  );
});

describe('the definition of an agent', () => {
  const model = () => Promise.resolve('Hi.');
  const defined = (tool: AiTool) =>
    defineAgent({ name: 'a', mode: 'chat', model, tools: [tool as never] });

  it('has hosted tools as data', () => {
    const { spec } = defined(anthropic.tools.webSearch_20250305({ maxUses: 2 }));

    expect(spec.hosted).toEqual([
      {
        name: 'web_search_20250305',
        id: 'anthropic.web_search_20250305',
        args: { maxUses: 2 },
      },
    ]);
  });

  it('takes them in modes without tools of its own', () => {
    const tools = [SEARCHES.google];
    const signature = '() -> {mood :string}';

    expect(
      defineAgent({ name: 'a', mode: 'json', model, signature, tools }).spec.hosted,
    ).toHaveLength(1);
  });

  it.each([
    ['anthropic.bash_20250124', anthropic.tools.bash_20250124({} as never)],
    ['anthropic.text_editor_20250124', anthropic.tools.textEditor_20250124({} as never)],
    ['openai.local_shell', openai.tools.localShell({} as never)],
    ['openai.apply_patch', openai.tools.applyPatch({} as never)],
  ])('refuses %s, which the provider does not run', (id, tool) => {
    expect(() => defined(tool as AiTool)).toThrow(
      new RegExp(`got \`${id}\`, which your process runs.*fromAiTool`),
    );
  });

  it.each([
    ['secrets', { authorization: 'token' }, 'without secrets'],
    ['approvals', { requireApproval: 'always' }, 'without `requireApproval`'],
    [
      'functions',
      { serverDescription: () => 'x' },
      'to be JSON, got function at `serverDescription`',
    ],
  ])('refuses %s in the arguments of openai.mcp', (_what, more, words) => {
    const args = { serverLabel: 'shop', serverUrl: 'https://shop.example/mcp', ...more };
    expect(() => defined(openai.tools.mcp(args as never) as AiTool)).toThrow(words);
  });

  it('refuses a plain tool of the AI SDK, and two of one name', () => {
    expect(() => defined({ description: 'x', inputSchema: z.object({}) })).toThrow('fromAiTool');
    const twice = [SEARCHES.anthropic, SEARCHES.anthropic];
    expect(() => defineAgent({ name: 'a', mode: 'chat', model, tools: twice })).toThrow(
      'two tools named `web_search_20250305`',
    );
  });

  it('needs a price for each call under a limit on cost', async () => {
    const priced = {
      model: modelAt('http://127.0.0.1:1', 'anthropic'),
      price: { input: 1, output: 1 },
    };
    const started = (entry: object) =>
      startInMemory({
        agent: defineAgent({
          name: 'a',
          mode: 'chat',
          model: { id: 'm', ...priced, ...entry },
          tools: [SEARCHES.anthropic, SEARCHES.google],
          limits: { costUsd: 1, modelCalls: 0 },
        }),
        task: 'x',
      }).result;

    const refusal = (): string => {
      try {
        void started({});
      } catch (error) {
        return (error as Error).message;
      }
      return 'none';
    };
    const message = refusal();
    expect(message).toContain('a price for each call of `web_search_20250305` under a cost limit');
    // Google's is not run by this model.
    expect(message).not.toContain('google_search');
    expect((await started({ hostedPrice: 0.01 })).status).toBe('limit_exceeded');
  });
});
