/**
 * A reply is read in the order in which its model wrote it, and goes back so: thoughts between calls, with
 * what their provider signed, and what servers add to calls.
 */
import { describe, expect, test } from 'vitest';
import { textMessage, type Message } from '../../src/core/base/message.ts';
import type { ModelRequest, Reply } from '../../src/core/contract/model.ts';
import { callsOf } from '../../src/core/contract/turn.ts';
import { assistantMessage } from '../../src/core/modes/observation.ts';
import { readNativeCalls } from '../../src/core/toolchain/native-calls.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { modelAt, startPlainServer, type Protocol } from '../support/aimock.ts';

type Fields = { readonly [name: string]: unknown };

const look = {
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
};

/** Two calls with a thought before each, as events of `protocol`. */
const REPLIES: Readonly<Record<string, string>> = {
  'openai-responses': data([
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt-5' } },
    ...[1, 2].flatMap((number) => responseItems(number)),
    {
      type: 'response.completed',
      response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
    },
  ]),
  anthropic: data([
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    ...[1, 2].flatMap((number) => messageBlocks(number)),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]),
  google: data([
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'thought 1', thought: true, thoughtSignature: 'sig 1' },
              { functionCall: { name: 'look', args: { city: '1' } }, thoughtSignature: 'sig 2' },
              { text: 'between', thoughtSignature: 'sig 3' },
              { functionCall: { name: 'look', args: { city: '2' } }, thoughtSignature: 'sig 4' },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ]),
  'openai-compatible': data([
    chatChunk({
      tool_calls: [1, 2].map((number) => ({
        index: number - 1,
        id: `call_${number}`,
        type: 'function',
        function: { name: 'look', arguments: `{"city":"${number}"}` },
        extra_content: { vertex: { thought_signature: `sig ${number}` } },
      })),
    }),
    chatChunk({}, 'tool_calls'),
  ]),
};

function data(events: readonly Fields[]): string {
  return events
    .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
    .map((text) => text.replace('event: undefined\n', ''))
    .join('');
}

function chatChunk(delta: object, finish: string | null = null): Fields {
  const choice = { index: 0, delta, finish_reason: finish };
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] };
}

function responseItems(number: number): readonly Fields[] {
  const output_index = number * 2;
  const thought = { type: 'reasoning', id: `rs_${number}`, summary: [] };
  const call = {
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    name: 'look',
  };
  const args = `{"city":"${number}"}`;
  const done = { ...thought, encrypted_content: `sig ${number}` };
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...thought, encrypted_content: '' },
    },
    { type: 'response.output_item.done', output_index, item: done },
    {
      type: 'response.output_item.added',
      output_index: output_index + 1,
      item: { ...call, arguments: '', status: 'in_progress' },
    },
    {
      type: 'response.output_item.done',
      output_index: output_index + 1,
      item: { ...call, arguments: args, status: 'completed' },
    },
  ];
}

function messageBlocks(number: number): readonly Fields[] {
  const block = (index: number, content_block: object, deltas: readonly object[]): Fields[] => [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const first = number * 2;
  return [
    ...block(first, { type: 'thinking', thinking: '' }, [
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature: `sig ${number}` },
    ]),
    ...block(first + 1, { type: 'tool_use', id: `call_${number}`, name: 'look', input: {} }, [
      { type: 'input_json_delta', partial_json: `{"city":"${number}"}` },
    ]),
  ];
}

function requestOf(messages: readonly Message[]): ModelRequest {
  return {
    mode: 'chat',
    agent: 'tester',
    runId: 'run-1',
    iteration: 1,
    attempt: 1,
    messages: [textMessage('user', 'Weather?'), ...messages],
    tools: [look],
    settings: {},
    cacheUpTo: 1,
  };
}

/** The reply to a first request, and the body of a second one that has it. */
async function roundTrip(
  protocol: Protocol,
  modelId: string,
): Promise<{ readonly reply: Reply; readonly body: Fields }> {
  const bodies: Fields[] = [];
  const server = await startPlainServer((_request, response, body) => {
    bodies.push(JSON.parse(body) as Fields);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(REPLIES[protocol]);
  });
  const model: LanguageModel = modelAt(server.url, protocol, modelId);
  const io = { signal: new AbortController().signal, onChunk: () => undefined };
  const ask = async (messages: readonly Message[]): Promise<Reply> => {
    const outcome = await callEntry({ id: 'm', model }, requestOf(messages), io);
    if (outcome.kind !== 'reply') throw new Error(`Expected a reply, got ${outcome.kind}.`);
    return outcome.reply;
  };
  const reply = await ask([]);
  const reading = readNativeCalls(callsOf(reply), { iteration: 1, tools: [], maxCallsPerTurn: 9 });
  const results = reading.parts.map(({ callId, tool }) => ({
    type: 'tool_result' as const,
    callId,
    tool,
    parts: [{ type: 'text' as const, text: 'Rain.' }],
    isError: false,
  }));
  await ask([...assistantMessage(reply, reading.parts), { role: 'tool', parts: results }]);
  await server.stop();
  return { reply, body: bodies[1] ?? {} };
}

function listIn(value: unknown): readonly Fields[] {
  return value as readonly Fields[];
}

describe('a reply with thoughts between its calls', () => {
  test.each([
    { protocol: 'openai-responses', modelId: 'gpt-5' },
    { protocol: 'anthropic', modelId: 'claude-sonnet-4-5' },
    { protocol: 'google', modelId: 'gemini-3-pro-preview' },
  ] as const)('is read in its order: $protocol', async ({ protocol, modelId }) => {
    const { reply } = await roundTrip(protocol, modelId);

    const between = protocol === 'google' ? 'text' : 'reasoning';
    expect(reply.parts.map(({ type }) => type)).toEqual(['reasoning', 'call', between, 'call']);
    expect(reply.by?.model).toBe(modelId);
  });

  test('goes back to the Responses so, with ids and encrypted thoughts', async () => {
    const { body } = await roundTrip('openai-responses', 'gpt-5');

    expect(listIn(body['input']).slice(1)).toMatchObject([
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'sig 1' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'reasoning', id: 'rs_2', encrypted_content: 'sig 2' },
      { type: 'function_call', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_2' },
    ]);
  });

  test('goes back to the Messages so, with signatures', async () => {
    const { body } = await roundTrip('anthropic', 'claude-sonnet-4-5');

    expect(listIn(body['messages'])[1]?.['content']).toMatchObject([
      { type: 'thinking', signature: 'sig 1' },
      { type: 'tool_use', id: 'call_1' },
      { type: 'thinking', signature: 'sig 2' },
      { type: 'tool_use', id: 'call_2' },
    ]);
  });

  test('goes back to Gemini so, with signatures on text, thoughts and calls', async () => {
    const { body } = await roundTrip('google', 'gemini-3-pro-preview');

    expect(listIn(body['contents'])[1]?.['parts']).toMatchObject([
      { thought: true, thoughtSignature: 'sig 1' },
      { functionCall: { args: { city: '1' } }, thoughtSignature: 'sig 2' },
      { text: 'between', thoughtSignature: 'sig 3' },
      { functionCall: { args: { city: '2' } }, thoughtSignature: 'sig 4' },
    ]);
  });
});

test('what a compatible server adds to a call goes back with it', async () => {
  const { body } = await roundTrip('openai-compatible', 'gemini-3-pro');

  expect(listIn(body['messages'])[1]?.['tool_calls']).toMatchObject([
    { id: 'call_1', extra_content: { vertex: { thought_signature: 'sig 1' } } },
    { id: 'call_2', extra_content: { vertex: { thought_signature: 'sig 2' } } },
  ]);
});
