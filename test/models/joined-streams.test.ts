/**
 * Joined streams: whatever a provider writes, however the network cuts it and however long pieces
 * are held, an adapter gives what it gives without joining.
 */
import * as anthropic6 from '@ai-sdk/anthropic';
import * as anthropic7 from '@ai-sdk-7/anthropic';
import * as openai6 from '@ai-sdk/openai';
import * as openai7 from '@ai-sdk-7/openai';
import * as compatible6 from '@ai-sdk/openai-compatible';
import * as compatible7 from '@ai-sdk-7/openai-compatible';
import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ModelChunk } from '../../src/core/contract/model.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { joiningModel } from '../../src/models/deltas/joining-model.ts';
import { openStream } from '../../src/models/specification.ts';
import { AI_SDK } from '../support/aimock.ts';
import { extent } from '../support/extent.ts';

const { createAnthropic } = AI_SDK === 7 ? anthropic7 : anthropic6;
const { createOpenAI } = AI_SDK === 7 ? openai7 : openai6;
const { createOpenAICompatible } = AI_SDK === 7 ? compatible7 : compatible6;

type Fetch = typeof globalThis.fetch;
type Part = Readonly<Record<string, unknown>>;

const given = { apiKey: 'sk-test-key-0123456789', baseURL: 'http://provider.invalid/v1' };

const models: Readonly<Record<string, (fetch: Fetch) => LanguageModel>> = {
  'openai-compatible': (fetch) =>
    createOpenAICompatible({ ...given, name: 'mock', fetch })('test-model'),
  'openai-chat': (fetch) => createOpenAI({ ...given, fetch }).chat('test-model'),
  'openai-responses': (fetch) => createOpenAI({ ...given, fetch }).responses('test-model'),
  anthropic: (fetch) => createAnthropic({ ...given, fetch })('test-model'),
};

/** A `fetch` that answers with `bytes`, in pieces of these sizes in turn. */
function answering(bytes: Uint8Array, sizes: readonly number[]): Fetch {
  return async () => {
    let at = 0;
    let turn = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await nextTurn();
        const size = sizes[turn++ % sizes.length] ?? bytes.length;
        if (at < bytes.length) controller.enqueue(bytes.slice(at, at + size));
        at += size;
        if (at >= bytes.length) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** The parts of a stream, or the error with which it breaks. */
async function resultOf(model: LanguageModel): Promise<readonly Part[] | string> {
  try {
    return await partsOf(model);
  } catch (error) {
    return String(error);
  }
}

/** The parts of a stream; adjacent deltas are one. */
async function partsOf(model: LanguageModel): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const stream = await openStream(model, {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go' }] }],
  });
  const reader = stream.getReader();
  for (;;) {
    const next = await reader.read();
    if (next.done) return parts;
    const part = JSON.parse(JSON.stringify(next.value)) as Part;
    const last = parts.at(-1);
    const { type, id, delta = '' } = last ?? {};
    const isMore =
      last !== undefined &&
      typeof part['delta'] === 'string' &&
      type === part['type'] &&
      id === part['id'];
    if (isMore)
      parts[parts.length - 1] = { ...last, ...part, delta: String(delta) + String(part['delta']) };
    else parts.push(part);
  }
}

const chatEvent = (delta: object, more: object = {}): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});

/** Texts with what JSON, lines and UTF-8 make difficult. */
const piece = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    ' and',
    '"',
    '\\',
    '\n\n',
    '\r\n',
    'é',
    '😀',
    '\ud83d',
    '\ude00',
    '{',
    '}',
  ),
  fc.constantFrom('data: x', '"content":"x"', '"delta":"', '","sequence_number":7', ']}', '\u2028'),
  fc.string({ maxLength: 6 }),
);

const args = fc.constantFrom('{', '}', '{}', '[', ']', '"a"', ':', '1', '2', ',', ' ', 'true');

const chat = fc.oneof(
  { weight: 6, arbitrary: piece.map((content) => chatEvent({ content })) },
  { weight: 2, arbitrary: piece.map((content) => chatEvent({ role: 'assistant', content })) },
  { weight: 3, arbitrary: piece.map((text) => chatEvent({ reasoning_content: text })) },
  { weight: 1, arbitrary: piece.map((text) => chatEvent({ content: text, reasoning: text })) },
  { weight: 1, arbitrary: piece.map((content) => chatEvent({ content }, { obfuscation: 'xY1' })) },
  {
    weight: 1,
    arbitrary: piece.map((content) => chatEvent({ content }, { usage: { prompt_tokens: 1 } })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(1), args).map(([index, text]) => {
      const called = { name: 'look', arguments: text };
      return chatEvent({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: called }],
      });
    }),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.nat(1), args)
      .map(([index, text]) =>
        chatEvent({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
  },
);
const chatEnd = [
  {
    ...chatEvent({}),
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  },
];

const block = (index: number, delta: object): object => ({
  type: 'content_block_delta',
  index,
  delta,
});
const anthropic = fc.oneof(
  { weight: 5, arbitrary: piece.map((text) => block(0, { type: 'text_delta', text })) },
  { weight: 3, arbitrary: piece.map((thinking) => block(1, { type: 'thinking_delta', thinking })) },
  {
    weight: 3,
    arbitrary: args.map((partial_json) => block(2, { type: 'input_json_delta', partial_json })),
  },
  { weight: 1, arbitrary: fc.constant(block(1, { type: 'signature_delta', signature: 's1' })) },
  { weight: 1, arbitrary: fc.constant({ type: 'ping' }) },
);
const anthropicStart = [
  {
    type: 'message_start',
    message: {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '' } },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 't1', name: 'look', input: {} },
  },
];
const anthropicEnd = [
  ...[0, 1, 2].map((index) => ({ type: 'content_block_stop', index })),
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];

const output = { item_id: 'i1', output_index: 0, content_index: 0 };
const responses = fc.oneof(
  {
    weight: 5,
    arbitrary: piece.map((delta) => ({
      type: 'response.output_text.delta',
      ...output,
      delta,
      logprobs: [],
    })),
  },
  {
    weight: 3,
    arbitrary: args.map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: 'f1',
      output_index: 1,
      delta,
    })),
  },
  {
    weight: 1,
    arbitrary: piece.map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: 'r1',
      output_index: 2,
      summary_index: 0,
      delta,
    })),
  },
);
const responsesStart = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i1' } },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'function_call', id: 'f1', call_id: 'k1', name: 'look', arguments: '' },
  },
];
const responsesEnd = [
  { type: 'response.completed', response: { usage: { input_tokens: 3, output_tokens: 5 } } },
];

interface Wire {
  readonly events: fc.Arbitrary<object>;
  readonly start: readonly object[];
  readonly end: readonly object[];
  readonly isNamed: boolean;
}

const chatWire: Wire = { events: chat, start: [], end: chatEnd, isNamed: false };
const wires: Readonly<Record<string, Wire>> = {
  'openai-compatible': chatWire,
  'openai-chat': chatWire,
  'openai-responses': {
    events: responses,
    start: responsesStart,
    end: responsesEnd,
    isNamed: true,
  },
  anthropic: { events: anthropic, start: anthropicStart, end: anthropicEnd, isNamed: true },
};

/** The text of a stream: numbered and padded as providers do, with lines that are no events. */
function written(
  { isNamed }: Wire,
  events: readonly object[],
  pads: readonly number[],
): Uint8Array {
  const texts = events.map((event, at) => {
    const pad = pads[at % pads.length] ?? 0;
    const type = (event as { readonly type?: string }).type ?? '';
    const numbered = type.startsWith('response.') ? { ...event, sequence_number: at } : event;
    const data = JSON.stringify(numbered).replace(/\}$/, `${' '.repeat(pad % 4)}}`);
    const line = pad === 5 ? ': comment\n\n' : pad === 6 ? 'data: {"broken\n\n' : '';
    return `${line}${isNamed ? `event: ${type}\n` : ''}data: ${data}\n\n`;
  });
  return new TextEncoder().encode(`${texts.join('')}data: [DONE]\n\n`);
}

test.each(Object.entries(wires))(
  '[row 53] %s: joined pieces give the same parts, whatever is written, cut and held',
  async (name, wire) => {
    let joined = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(wire.events, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(0, 1, 50),
        async (events, sizes, pads, holdMs) => {
          const bytes = written(wire, [...wire.start, ...events, ...wire.end], pads);
          const make = models[name];
          if (make === undefined) throw new Error(`No model speaks ${name}.`);
          const model = make(answering(bytes, sizes));
          const chunks: ModelChunk[] = [];
          const joining = joiningModel(model, {
            holdMs: () => holdMs,
            onDelta: (chunk) => chunks.push(chunk),
          });
          expect(joining).not.toBe(model);
          expect(await resultOf(joining)).toEqual(await resultOf(model));
          joined += chunks.length;
        },
      ),
      { numRuns: extent(200, 40) },
    );
    expect(joined).toBeGreaterThan(0);
  },
);
