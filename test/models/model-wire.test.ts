import { expect, test } from 'vitest';
import { callEntry } from '../../src/models/model-adapter.ts';
import type { Json } from '../../src/core/base/json.ts';
import { textMessage, type Author } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { modelAt, startPlainServer, type Protocol } from '../support/aimock.ts';

/** A conversation with a thought and a call, whose provider wants `data` back with both. */
function requestOf(thought: Json, callData: Json): ModelRequest {
  return {
    mode: 'chat',
    agent: 'tester',
    runId: 'run-1',
    iteration: 2,
    attempt: 1,
    messages: [
      textMessage('system', 'Be brief.'),
      textMessage('user', 'Weather?'),
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'I look.', providerData: thought },
          {
            type: 'tool_call',
            callId: '1.1',
            tool: 'look',
            args: { city: 'Oslo' },
            providerData: callData,
          },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: '1.1',
            tool: 'look',
            parts: [{ type: 'text', text: 'Rain.' }],
            isError: false,
          },
        ],
      },
    ],
    tools: [
      { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
    ],
    settings: { maxOutputTokens: 100 },
    cacheUpTo: 4,
  };
}

/** The body of the request as it goes over the wire; its replies are `by` the same model, if no other. */
async function bodyOf(
  protocol: Protocol,
  request: ModelRequest,
  modelId: string,
  by?: Author,
): Promise<unknown> {
  const bodies: string[] = [];
  const server = await startPlainServer((_request, response, body) => {
    bodies.push(body);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"No."}}');
  });
  const model = modelAt(server.url, protocol, modelId);
  const entry = { id: 'provider/model', model };
  const author = by ?? { provider: model.provider, model: modelId };
  const messages = request.messages.map((message) =>
    message.role === 'assistant' ? { ...message, by: author } : message,
  );
  const io = { signal: new AbortController().signal, onChunk: () => undefined };
  await callEntry(entry, { ...request, messages }, io).catch(() => undefined);
  await server.stop();
  return JSON.parse(bodies[0] ?? 'null') as unknown;
}

test('Anthropic gets signed thoughts, its ids of calls, and the end of the stable beginning', async () => {
  const request = requestOf({ anthropic: { signature: 'sig' } }, { id: 'toolu_1' });

  const body = await bodyOf('anthropic', request, 'claude-sonnet-4-5');

  expect(body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.' }],
    max_tokens: 100,
    stream: true,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I look.', signature: 'sig' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: 'Rain.',
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
  });
});

test('the responses of OpenAI get encrypted thoughts back and store nothing', async () => {
  const thought = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'secret' } };
  const request = requestOf(thought, { id: 'call_1', data: { openai: { itemId: 'fc_1' } } });

  const body = await bodyOf('openai-responses', request, 'gpt-5');

  expect(body).toMatchObject({
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    input: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      {
        type: 'reasoning',
        encrypted_content: 'secret',
        summary: [{ type: 'summary_text', text: 'I look.' }],
      },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Rain.' },
    ],
  });
});

test('Google gets the signatures of its thoughts back with the calls', async () => {
  const call = { id: 'g1', data: { google: { thoughtSignature: 'sig' } } };
  const request = requestOf({ google: { thoughtSignature: 'sig0' } }, call);

  const body = await bodyOf('google', request, 'gemini-3-pro-preview');

  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [
          { text: 'I look.', thought: true, thoughtSignature: 'sig0' },
          {
            functionCall: { name: 'look', args: { city: 'Oslo' } },
            thoughtSignature: 'sig',
          },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'look' } }] },
    ],
  });
});

test('thoughts of another provider are left out, not refused', async () => {
  const request = requestOf({ anthropic: { signature: 'sig' } }, { id: 'toolu_1' });

  const by = { provider: 'anthropic.messages', model: 'claude-sonnet-4-5' };
  const body = await bodyOf('openai-responses', request, 'gpt-5', by);

  expect(body).toMatchObject({
    input: [
      { role: 'developer' },
      { role: 'user' },
      { type: 'function_call', call_id: 'toolu_1' },
      { type: 'function_call_output', call_id: 'toolu_1' },
    ],
  });
});
