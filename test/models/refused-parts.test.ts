/** Refusals of one sample or of one kind of item: the run goes on with the same model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import { startInMemory } from '../../src/testing.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Message, Part } from '../../src/core/base/message.ts';
import { withoutRefused } from '../../src/models/refused-parts.ts';
import { modelAt, protocols, sse, startPlainServer, type Protocol } from '../support/aimock.ts';

const IMAGE = 'iVBORw0KGgoAAAANSUhEUg==';

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** A reply with this text in a protocol. */
function saying(protocol: Protocol, text: string): string {
  switch (protocol) {
    case 'openai-compatible':
    case 'openai-chat':
      return sse([chunk({ role: 'assistant', content: text }), chunk({}, 'stop')]);
    case 'openai-responses': {
      const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
      return sse([
        { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
        { type: 'response.output_item.added', output_index: 0, item },
        {
          type: 'response.output_text.delta',
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta: text,
        },
        { type: 'response.output_item.done', output_index: 0, item },
        {
          type: 'response.completed',
          response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1 } },
        },
      ]);
    }
    case 'anthropic':
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
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: 1 },
        },
        { type: 'message_stop' },
      ]);
    case 'google':
      return sse([
        {
          candidates: [
            { index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' },
          ],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        },
      ]);
  }
}

/** A provider that answers a request by `answer`: a text, or the body of a 400. */
async function providerOf(
  protocol: Protocol,
  answer: (body: string, count: number) => string | { readonly refused: unknown },
) {
  const bodies: string[] = [];
  const server = await startPlainServer((_request, response, body) => {
    bodies.push(body);
    const answered = answer(body, bodies.length);
    const isText = typeof answered === 'string';
    response.writeHead(isText ? 200 : 400, {
      'content-type': isText ? 'text/event-stream' : 'application/json',
    });
    response.end(isText ? saying(protocol, answered) : JSON.stringify(answered.refused));
  });
  return { bodies, model: modelAt(server.url, protocol) };
}

const warningsOf = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'agent:warning' ? [event.code] : []));

describe('a sample that the provider could not read', () => {
  it('of calls is told to the model, and nothing runs', async () => {
    const { bodies, model } = await providerOf('openai-compatible', (_body, count) =>
      count > 1
        ? 'Rain.'
        : {
            refused: {
              error: {
                message: 'Failed to call a function.',
                type: 'invalid_request_error',
                code: 'tool_use_failed',
                failed_generation: '<function=look{}></function>',
              },
            },
          },
    );
    let looks = 0;
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({}),
      execute: () => {
        looks += 1;
        return 'rain';
      },
    });
    const agent = defineAgent({ name: 'a', mode: 'chat', model, tools: [look] });

    const step = await startInMemory({ agent, task: 'Weather?' }).result;

    expect([step.status, step.value, looks]).toEqual(['success', 'Rain.', 0]);
    expect(bodies[1]).toContain('<function=look{}></function>');
    expect(bodies[1]).toContain('Your reply could not be used: Failed to call a function.');
  });

  it('of JSON is repaired with what does not fit', async () => {
    const { bodies, model } = await providerOf('openai-compatible', (_body, count) =>
      count > 1
        ? '{"score": 9}'
        : {
            refused: {
              error: {
                message: 'Failed to generate JSON.',
                code: 'json_validate_failed',
                failed_generation: '{"score": "high"}',
              },
            },
          },
    );
    const agent = defineAgent({
      name: 'a',
      mode: 'json',
      model: { id: 'm', model, structuredOutput: 'prompt' },
      signature: '() -> {score :int}',
    });

    const step = await startInMemory({ agent, task: 'Rate.' }).result;

    expect(step.value).toEqual({ score: 9 });
    expect(bodies[1]).toContain('Your answer did not fit the output format');
  });
});

describe('an item that the provider does not take', () => {
  const refusals = [
    'Could not process image',
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum',
    'At least one of the image dimensions exceed max allowed size: 8000 pixels',
    'You uploaded an unsupported image. Please make sure your image is valid.',
    'Unable to process input image. Please retry or report.',
    'This model does not support image input.',
    'messages[0]: unknown variant `image_url`, expected `text`',
  ];

  it.each([
    ...protocols.map((protocol) => ({ protocol, said: refusals[0] ?? '' })),
    ...refusals.slice(1).map((said) => ({ protocol: 'openai-chat' as const, said })),
  ])('is left out with a word and a warning: $protocol, $said', async ({ protocol, said }) => {
    const { bodies, model } = await providerOf(protocol, (body) =>
      body.includes(IMAGE.slice(0, 16))
        ? { refused: { error: { message: said, type: 'invalid_request_error' } } }
        : 'I see nothing.',
    );
    const events: AgentEvent[] = [];
    const agent = defineAgent({ name: 'a', mode: 'chat', model });
    const task = {
      text: 'Look',
      media: [{ type: 'media' as const, mediaType: 'image/png', data: IMAGE }],
    };

    const step = await startInMemory({
      agent,
      task,
      onEvent: (event) => void events.push(event as AgentEvent),
    }).result;

    expect([step.status, step.value, bodies.length]).toEqual(['success', 'I see nothing.', 2]);
    expect(bodies[1]).toContain('left out: image/png');
    expect(warningsOf(events)).toContain('item_left_out');
  });

  /** Where `node` has a text with `marker`, as keys. */
  function placeOf(node: unknown, marker: string): readonly string[] | undefined {
    if (typeof node === 'string') return node.includes(marker) ? [] : undefined;
    if (typeof node !== 'object' || node === null) return undefined;
    for (const [key, inner] of Object.entries(node)) {
      const rest = placeOf(inner, marker);
      if (rest !== undefined) return [key, ...rest];
    }
    return undefined;
  }

  const pictures = ['XXXX', 'YYYY', 'ZZZZ'].map((data) => ({
    type: 'media' as const,
    mediaType: 'image/png',
    data: IMAGE.replace('iVBORw0KGgoAAAANSUhEUg', `iVBORw0KGgoAAAANSUhE${data}`),
  }));

  it.each(
    protocols.flatMap((protocol) =>
      [0, 1, 2].flatMap((index) => [
        { protocol, index, writes: (place: readonly string[]) => place.join('.') },
        {
          protocol,
          index,
          writes: ([root, ...rest]: readonly string[]) =>
            root + rest.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join(''),
        },
      ]),
    ),
  )(
    'is the only one left out where its place is named, and is not sent again: $protocol, $index',
    async ({ protocol, index, writes }) => {
      const marker = ['XXXX', 'YYYY', 'ZZZZ'][index] ?? '';
      let refused = 0;
      const { bodies, model } = await providerOf(protocol, (body, count) => {
        const place = placeOf(JSON.parse(body), marker);
        if (place === undefined) return count < 3 ? 'Let me think.' : '{"seen": 2}';
        refused += 1;
        // Without the last key, as providers name the part, and not the text in it.
        const message = `Invalid '${writes(place.slice(0, -1))}': could not process image`;
        return { refused: { error: { message, type: 'invalid_request_error' } } };
      });
      const agent = defineAgent({
        name: 'a',
        mode: 'json',
        model: { id: 'm', model, structuredOutput: 'prompt' },
        signature: '() -> {seen :int}',
      });

      const step = await startInMemory({ agent, task: { text: 'Look', media: pictures } }).result;

      // The first request is refused; the repair does not try again.
      expect([step.value, refused, bodies.length]).toEqual([{ seen: 2 }, 1, 3]);
      const others = ['XXXX', 'YYYY', 'ZZZZ'].filter((other) => other !== marker);
      for (const other of others) expect(bodies[2]).toContain(other);
      expect(bodies[2]?.match(/left out: image\/png/g)).toHaveLength(1);
    },
  );

  it('is the newest where none is named, then the one before it', async () => {
    const { bodies, model } = await providerOf('openai-chat', (body) =>
      body.includes('YYYY')
        ? { refused: { error: { message: 'Could not process image' } } }
        : 'I see one.',
    );
    const agent = defineAgent({ name: 'a', mode: 'chat', model });

    const step = await startInMemory({ agent, task: { text: 'Look', media: pictures } }).result;

    expect([step.value, bodies.length]).toEqual(['I see one.', 3]);
    expect(bodies[2]).toContain('XXXX');
  });

  it('is asked for once more only', async () => {
    const { bodies, model } = await providerOf('openai-chat', () => ({
      refused: { error: { message: 'Could not process image' } },
    }));
    const agent = defineAgent({ name: 'a', mode: 'chat', model });
    const media = [{ type: 'media' as const, mediaType: 'image/png', data: IMAGE }];

    const step = await startInMemory({ agent, task: { text: 'Look', media } }).result;

    expect([step.reason, bodies.length]).toEqual(['model_request_refused', 2]);
  });
});

describe('what is left out', () => {
  const leaf: fc.Arbitrary<Part> = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string() }),
    fc.record({
      type: fc.constant('media' as const),
      mediaType: fc.constant('image/png'),
      data: fc.string(),
    }),
    fc.record({
      type: fc.constant('reasoning' as const),
      text: fc.string(),
      providerData: fc.constant({ openai: { itemId: 'rs_1' } }),
    }),
    fc.record({
      type: fc.constant('tool_call' as const),
      callId: fc.string(),
      tool: fc.constant('t'),
      args: fc.constant({}),
      providerData: fc.constantFrom(
        { id: 'c', data: { google: { thoughtSignature: 's' } } },
        { id: 'c' },
      ),
    }),
  );
  const part: fc.Arbitrary<Part> = fc.oneof(
    leaf,
    fc.record({
      type: fc.constant('tool_result' as const),
      callId: fc.string(),
      tool: fc.constant('t'),
      parts: fc.array(leaf, { maxLength: 3 }).map((parts) =>
        // Results have texts and media only.
        parts.filter(({ type }) => type === 'text' || type === 'media'),
      ),
      isError: fc.constant(false),
    }),
  );
  const message: fc.Arbitrary<Message> = fc.record({
    role: fc.constantFrom('user', 'assistant', 'tool'),
    parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  });
  const refusal = (text: string): Error => Object.assign(new Error(text), { statusCode: 400 });
  const request = (messages: readonly Message[]) => ({
    mode: 'chat' as const,
    agent: 'a',
    runId: 'r',
    iteration: 1,
    attempt: 1,
    messages,
    settings: { reasoning: 'high', temperature: 1 },
    cacheUpTo: 0,
  });

  /** What is left out of `messages` for `error`, when so many media were left out before. */
  const reduce = (messages: readonly Message[], error: Error, leftOut: number) =>
    withoutRefused(request(messages), error, { messages, originalOf: (one) => one, leftOut });

  it('is all of its kind and nothing else, and calls keep their ids', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const media = reduce(messages, refusal('Could not process image'), 3);
        expect(JSON.stringify(media?.request.messages ?? [])).not.toContain('"type":"media"');
        const signed = reduce(messages, refusal('Invalid `signature` in `thinking` block'), 0);
        const text = JSON.stringify(signed?.request.messages ?? []);
        expect(text).not.toContain('thoughtSignature');
        expect(signed?.request.settings ?? { temperature: 1 }).toEqual({ temperature: 1 });
        const count = (all: readonly Message[], type: Part['type']): number =>
          all.flatMap(({ parts }) => parts).filter((one) => one.type === type).length;
        for (const reduced of [media, signed]) {
          if (reduced === undefined) continue;
          for (const type of ['tool_call', 'tool_result'] as const) {
            expect(count(reduced.request.messages, type)).toBe(count(messages, type));
          }
          expect(reduced.request.messages.every(({ parts }) => parts.length > 0)).toBe(true);
        }
      }),
    );
  });

  it.each(['The tool schema is odd.', 'Invalid file_id', 'max_tokens is too large'])(
    'is nothing after %s, without such an item',
    (text) => {
      const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }];
      expect(reduce(messages, refusal(text), 0)).toBeUndefined();
    },
  );
});
