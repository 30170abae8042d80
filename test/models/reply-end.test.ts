/** What the end of a reply means, over HTTP, through the provider packages. */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../src/core/contract/model.ts';
import { callsOf } from '../../src/core/contract/turn.ts';
import { textMessage } from '../../src/core/base/message.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { classifyModelError, type ModelFailure } from '../../src/models/model-failures.ts';
import { replyEnd } from '../../src/models/reply-end.ts';
import { modelAt, sse, startPlainServer, type Protocol } from '../support/aimock.ts';

const chunk = (delta: object, finish: string | null = null, more: object = {}): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const hello = chunk({ role: 'assistant', content: 'Hello.' });
const usage = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};
const DONE = 'data: [DONE]\n\n';

type End =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly offered: readonly string[] }
  | { readonly kind: 'failed'; readonly failure: ModelFailure };

/** What one call of a model gives whose provider streams `body`. */
async function endOf(protocol: Protocol, body: string): Promise<End> {
  const server = await startPlainServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(body);
  });
  const offered: string[] = [];
  try {
    const outcome = await callEntry(
      { id: 'provider/model', model: modelAt(server.url, protocol) },
      {
        mode: 'chat',
        agent: 'tester',
        runId: 'run-1',
        iteration: 1,
        attempt: 1,
        messages: [textMessage('user', 'Hi')],
        tools: [{ name: 'purge', description: 'Purges.', parameters: { type: 'object' } }],
        settings: {},
        cacheUpTo: 0,
      },
      {
        signal: new AbortController().signal,
        onChunk: () => undefined,
        onCall: ({ tool }) => offered.push(tool),
      },
    );
    if (outcome.kind !== 'reply') throw new Error('Expected a reply, got an abort.');
    return { kind: 'reply', reply: outcome.reply, offered };
  } catch (error) {
    return { kind: 'failed', failure: classifyModelError(error) };
  }
}

const chats = ['openai-compatible', 'openai-chat'] as const;

describe('[row 53] a stream without a finish reason', () => {
  it.each(
    chats.flatMap((protocol) => [
      { protocol, name: '[DONE]', body: sse([hello]) + DONE, isWhole: true },
      {
        protocol,
        name: '[DONE] without a space',
        body: `${sse([hello])}data:[DONE]\n\n`,
        isWhole: true,
      },
      {
        protocol,
        name: '[DONE] after line ends of Windows',
        body: (sse([hello]) + DONE).replaceAll('\n', '\r\n'),
        isWhole: true,
      },
      { protocol, name: 'usage in a chunk of its own', body: sse([hello, usage]), isWhole: true },
      { protocol, name: 'usage before any text', body: sse([usage, hello]), isWhole: false },
      {
        protocol,
        name: 'usage in each chunk',
        body: sse([{ ...hello, usage: usage.usage }]),
        isWhole: false,
      },
      { protocol, name: 'nothing at all', body: sse([hello]), isWhole: false },
      {
        protocol,
        name: '[DONE] in the text',
        body: sse([chunk({ content: 'data: [DONE]' })]),
        isWhole: false,
      },
      { protocol, name: '[DONE] alone', body: DONE, isWhole: false },
    ]),
  )('$protocol: $name', async ({ protocol, body, isWhole }) => {
    const end = await endOf(protocol, body);

    expect(end.kind).toBe(isWhole ? 'reply' : 'failed');
    if (end.kind === 'reply') expect(end.reply.finishReason).toBe('stop');
    else expect([end.failure.code, end.failure.retryable]).toEqual(['model_error', true]);
  });
});

describe('[row 53] an error within a stream', () => {
  it.each(
    chats.flatMap((protocol) => [
      {
        protocol,
        error: { code: 502, message: 'Upstream broke.' },
        said: 'HTTP 502: Upstream broke.',
      },
      { protocol, error: undefined, said: 'The provider failed during the reply' },
    ]),
  )('$protocol: $said', async ({ protocol, error, said }) => {
    const end = await endOf(
      protocol,
      sse([hello, chunk({ content: '' }, 'error', { error })]) + DONE,
    );

    if (end.kind !== 'failed') throw new Error('Expected a failure, got a reply.');
    expect([end.failure.code, end.failure.retryable]).toEqual(['model_error', true]);
    expect(end.failure.message).toContain(said);
  });
});

describe('[row 53] a refusal in a field of its own', () => {
  it.each(chats)('%s', async (protocol) => {
    const parts = ['I can', 'not help.'].map((refusal) => chunk({ refusal }));
    const end = await endOf(protocol, sse([...parts, chunk({}, 'stop')]) + DONE);

    if (end.kind !== 'failed') throw new Error('Expected a failure, got a reply.');
    expect([end.failure.code, end.failure.retryable]).toEqual(['model_refused', false]);
    expect(end.failure.message).toContain('I cannot help.');
  });
});

const anthropic = (deltas: readonly string[], stop: string): string =>
  sse([
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
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'purge', input: {} },
    },
    ...deltas.map((partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]);

const chat = (deltas: readonly string[], stop: string): string =>
  sse([
    chunk({
      role: 'assistant',
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'purge', arguments: '' } },
      ],
    }),
    ...deltas.map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chunk({}, stop),
    usage,
  ]) + DONE;

describe('a call without arguments', () => {
  const begun = [
    { protocol: 'anthropic', body: anthropic, cut: 'max_tokens', whole: 'tool_use' },
    { protocol: 'openai-chat', body: chat, cut: 'length', whole: 'tool_calls' },
    { protocol: 'openai-compatible', body: chat, cut: 'length', whole: 'tool_calls' },
  ] as const;

  it.each(begun)('has none after a cut: $protocol', async ({ protocol, body, cut }) => {
    const end = await endOf(protocol, body([''], cut));

    if (end.kind !== 'reply') throw new Error(`Expected a reply, got ${end.failure.message}`);
    expect(end.reply.finishReason).toBe('length');
    // Nothing ran beside the reply either.
    expect(end.offered).toEqual([]);
    for (const call of callsOf(end.reply)) expect(call.args).toBe('');
  });

  it.each(begun)(
    'has empty ones after a normal end: $protocol',
    async ({ protocol, body, whole }) => {
      const end = await endOf(protocol, body([''], whole));

      if (end.kind !== 'reply') throw new Error(`Expected a reply, got ${end.failure.message}`);
      const [call] = callsOf(end.reply);
      expect(typeof call?.args === 'string' ? JSON.parse(call.args) : call?.args).toEqual({});
    },
  );

  it.each(begun)(
    'keeps those that the model wrote, after a cut too: $protocol',
    async ({ protocol, body, cut }) => {
      const end = await endOf(protocol, body(['{', '}'], cut));

      if (end.kind !== 'reply') throw new Error(`Expected a reply, got ${end.failure.message}`);
      expect(callsOf(end.reply).map(({ args }) => args)).toEqual(['{}']);
    },
  );
});

describe('the words of providers for a stop', () => {
  it.each([
    ['SAFETY', 'refused'],
    ['RECITATION', 'refused'],
    ['PROHIBITED_CONTENT', 'refused'],
    ['SPII', 'refused'],
    ['refusal', 'refused'],
    ['guardrail_intervened', 'refused'],
    ['content-filtered', 'refused'],
    ['sensitive', 'refused'],
    ['MALFORMED_FUNCTION_CALL', 'unusable'],
    ['UNEXPECTED_TOOL_CALL', 'unusable'],
    ['error', 'failed'],
    ['network_error', 'failed'],
    ['engine_overloaded', 'failed'],
    ['end', 'ended'],
    ['eos', 'ended'],
    ['', 'ended'],
  ])('%s is %s, whatever the adapter makes of it', (raw, kind) => {
    expect(replyEnd({ unified: 'other', raw }).kind).toBe(kind);
  });

  it.each(['max_tokens', 'model_length', 'MAX_TOKENS', 'token_limit_reached'])(
    '%s is a cut',
    (raw) => {
      expect(replyEnd({ unified: 'other', raw })).toEqual({
        kind: 'ended',
        finishReason: 'length',
      });
    },
  );
});
