/**
 * Schemas over HTTP, through the provider packages: what goes out obeys the rules of the provider,
 * and what comes back has the form of the tool and of the answer.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import type { SchemaInput } from '../../src/define/schema/value-schema.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

/** The bodies of all requests, and what the provider writes, by the number of the request. */
const bodies: JsonObject[] = [];
let replies: readonly (JsonObject | string)[] = [];

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject;
}

/** A reply of OpenAI's chat completions: a text, or the arguments of a call of the first tool. */
function completion(said: JsonObject | string): string {
  const delta =
    typeof said === 'string'
      ? { role: 'assistant', content: said }
      : {
          role: 'assistant',
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: 'find', arguments: JSON.stringify(said) },
            },
          ],
        };
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
  const reason = typeof said === 'string' ? 'stop' : 'tool_calls';
  return [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: reason }]),
    chunk([], { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    'data: [DONE]\n\n',
  ].join('');
}

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    bodies.push(body);
    const said = replies[bodies.length - 1];
    if (said === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'No reply is left.' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(completion(said));
  });
});
let url = '';

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
beforeEach(() => {
  bodies.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const chat = (more: Partial<ModelEntry> = {}): ModelEntry => ({
  id: 'm',
  model: createOpenAI({ baseURL: url, apiKey: 'key' }).chat('gpt-5'),
  ...more,
});

/** The arguments with which the tool ran; the model calls it once and then answers. */
async function ranWith(
  parameters: SchemaInput,
  args: JsonObject,
  more?: Partial<ModelEntry>,
): Promise<Json> {
  const ran: Json[] = [];
  replies = [args, 'Done.'];
  const find = defineTool({
    name: 'find',
    description: 'Finds.',
    parameters,
    execute: (given) => {
      ran.push(given as Json);
      return 'found';
    },
  });
  const agent = defineAgent({ name: 'finder', mode: 'chat', model: chat(more), tools: [find] });
  const { value } = await startInMemory({ agent, task: 'Find.', context: withHiddenValue() })
    .result;
  expect([value, ran.length]).toEqual(['Done.', 1]);
  return ran[0] ?? null;
}

/** What the second request says that the model called. */
function calledBefore(): Json {
  const [, second] = bodies as unknown as readonly { messages: readonly JsonObject[] }[];
  const calls = second?.messages.flatMap(
    ({ tool_calls: it }) => (it ?? []) as readonly JsonObject[],
  );
  const [call = {}] = calls ?? [];
  return JSON.parse((call['function'] as { arguments: string }).arguments) as Json;
}

const shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), r: z.number() }),
  z.object({ kind: z.literal('box'), w: z.number().optional() }),
]);

describe('the arguments of a tool', () => {
  test.each([{ strict: true }, {}])(
    'whose root is a union come back unwrapped, entry %j',
    async (more) => {
      const sent = { value: { kind: 'circle', r: 1 } };

      expect(await ranWith(shape, sent, more)).toEqual({ kind: 'circle', r: 1 });
      expect(calledBefore()).toEqual(sent);
      expect(bodies[0]).toMatchObject({
        tools: [{ function: { parameters: { type: 'object', required: ['value'] } } }],
      });
    },
  );

  test('have the names of their schema again', async () => {
    const parameters = z.object({ 'Größe in m': z.number(), ort: z.string() });
    const sent = { Gr__e_in_m: 2, ort: 'Oslo' };

    expect(await ranWith(parameters, sent)).toEqual({ 'Größe in m': 2, ort: 'Oslo' });
    expect(calledBefore()).toEqual(sent);
  });

  test('of a strict schema have no null for what is absent', async () => {
    const parameters = z.object({ a: z.string(), b: z.int().optional(), c: z.int().default(7) });

    expect(await ranWith(parameters, { a: 'x', b: null, c: null }, { strict: true })).toEqual({
      a: 'x',
      c: 7,
    });
  });
});

describe('an answer', () => {
  test('of a strict union is asked for in a field and taken out again', async () => {
    replies = ['{"value": {"kind": "box", "w": null}}'];
    const agent = defineAgent({
      name: 'shapes',
      mode: 'json',
      model: chat({ strict: true }),
      signature: { output: shape },
    });
    const { value } = await startInMemory({ agent, task: 'Which?', context: withHiddenValue() })
      .result;

    expect(value).toEqual({ kind: 'box' });
    expect(bodies[0]?.['response_format']).toMatchObject({
      json_schema: {
        strict: true,
        schema: {
          required: ['value'],
          properties: {
            value: { anyOf: [{ required: ['kind', 'r'] }, { required: ['kind', 'w'] }] },
          },
        },
      },
    });
  });
});

describe('a strict entry whose schemas cannot be strict is refused when the agent is defined', () => {
  const open = z.object({ rows: z.array(z.object({ tags: z.record(z.string(), z.string()) })) });

  test('a tool', () => {
    const find = defineTool({
      name: 'find',
      description: 'Finds.',
      parameters: open,
      execute: () => '',
    });
    expect(() =>
      defineAgent({ name: 'finder', mode: 'chat', model: chat({ strict: true }), tools: [find] }),
    ).toThrow(
      'Expected tool `find` to have a strict schema, got an object whose fields the schema does not name at `rows[].tags`.',
    );
  });

  test('an output', () => {
    const define = (model: ModelEntry): unknown =>
      defineAgent({ name: 'rows', mode: 'json', model, signature: { output: open } });
    expect(() => define(chat({ strict: true }))).toThrow(
      'Expected the output to have a strict schema',
    );
    // Gemini has no strict schemas; it gets the subset that it takes.
    const gemini = createGoogleGenerativeAI({ baseURL: url, apiKey: 'key' })('gemini-2.5-flash');
    expect(define({ id: 'm', model: gemini, strict: true })).toBeDefined();
    const claude = createAnthropic({ baseURL: url, apiKey: 'key' })('claude-sonnet-4-5');
    expect(() => define({ id: 'm', model: claude, strict: true })).toThrow('rows[].tags');
  });
});
