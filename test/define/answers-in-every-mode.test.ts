/**
 * The schema of an answer reaches the model in every mode, and a model that takes the prompt
 * literally answers right at the first try.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Message } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { checkJson } from '../../src/define/schema/schema.ts';
import { readSchema, type SchemaInput } from '../../src/define/schema/value-schema.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

const review = z.object({
  mood: z.enum(['good', 'bad']).describe('How it sounds'),
  stars: z.int().min(2).max(5),
  at: z.iso.date().optional(),
  kind: z.discriminatedUnion('type', [
    z.object({ type: z.literal('praise'), of: z.string().describe('What is praised') }),
    z.object({ type: z.literal('blame'), grade: z.int().min(1).max(3) }),
  ]),
});

const textOf = (messages: readonly Message[]): string =>
  messages
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
    .join('\n');

/** A value of a type as a field line has it: the last of several, the end of a range. */
function valueOf(type: string): Json {
  const last = type.split(' | ').at(-1) ?? '';
  const range = /^integer (\d+)\.\.(\d+)/.exec(last);
  if (range !== null) return Number(range[2]);
  if (last.startsWith('string')) return 'something of its own';
  if (last.startsWith('integer')) return 3;
  return JSON.parse(last) as Json;
}

/** What a model writes that knows no more than the lines on the fields. */
function literalAnswer(prompt: string): JsonObject {
  const lineOf = (name: string): string =>
    new RegExp(`^(?:;   )?- ${name}: (.*?)(?:\\. .*)?$`, 'm').exec(prompt)?.[1] ?? '';
  const alternatives = [...prompt.matchAll(/^(?:;   )? {2}- \{(.*)\}$/gm)].map(
    ([, text = '']) => text,
  );
  const fields = [...(alternatives.at(-1) ?? '').matchAll(/"(\w+)"\??: ([^,]+)/g)];
  return {
    mood: valueOf(lineOf('mood')),
    stars: valueOf(lineOf('stars')),
    kind: Object.fromEntries(fields.map(([, name = '', type = '']) => [name, valueOf(type)])),
  };
}

const RIGHT = { mood: 'bad', stars: 5, kind: { type: 'blame', grade: 3 } };

const lispOf = (value: Json): string =>
  typeof value === 'object' && value !== null
    ? `{${Object.entries(value as JsonObject)
        .map(([name, item]) => `:${name} ${lispOf(item)}`)
        .join(' ')}}`
    : JSON.stringify(value);

const asJson = (value: Json): string => JSON.stringify(value);

const modes: readonly {
  mode: NonNullable<AgentOptions['mode']>;
  more?: Partial<AgentOptions>;
  write: (value: Json) => string;
}[] = [
  { mode: 'json', write: asJson },
  { mode: 'chat', write: asJson },
  { mode: 'text', write: asJson },
  { mode: 'react', write: (value) => `<answer>${asJson(value)}</answer>` },
  {
    mode: 'react',
    more: { format: 'markdown' },
    write: (value) => `# answer\n${asJson(value)}`,
  },
  { mode: 'lisp', write: (value) => `\`\`\`clojure\n(return ${lispOf(value)})\n\`\`\`` },
];

async function play(
  { mode, more }: Omit<(typeof modes)[number], 'write'>,
  output: SchemaInput,
  write: (prompt: string) => string,
): Promise<{ readonly value: Json; readonly requests: readonly ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const model = (request: ModelRequest): Promise<string> => {
    requests.push(request);
    return Promise.resolve(write(textOf(request.messages)));
  };
  const agent = defineAgent({
    name: 'reviewer',
    mode,
    model: { id: 'm', model },
    signature: { output },
    ...more,
  });
  const { value } = await startInMemory({
    agent,
    task: 'Judge the review.',
    context: withHiddenValue(),
  }).result;
  return { value: mode === 'text' ? (JSON.parse(value as string) as Json) : value, requests };
}

describe('an answer of a schema', () => {
  test.each(modes)('is told whole in mode $mode, and answered at the first try', async (row) => {
    const { value, requests } = await play(row, review, (prompt) =>
      row.write(literalAnswer(prompt)),
    );

    expect(value).toEqual(RIGHT);
    expect(requests).toHaveLength(1);
    const prompt = textOf(requests[0]?.messages ?? []);
    expect(prompt).toContain('- mood: "good" | "bad". How it sounds');
    expect(prompt).toContain('- stars: integer 2..5');
    expect(prompt).toContain('- at (optional): string, format date');
    expect(prompt).toContain('  - {"type": "praise", "of": string}');
    expect(prompt).toContain('- kind.of: string. What is praised');
    expect(prompt).toContain('  - {"type": "blame", "grade": integer 1..3}');
  });

  const outputs: readonly { name: string; output: SchemaInput }[] = [
    { name: 'an enum and bounds', output: review },
    { name: 'an enum alone', output: z.enum(['spam', 'ham']) },
    { name: 'a list of objects', output: z.array(z.object({ n: z.number().gt(3).lt(4) })).min(2) },
    {
      name: 'a union',
      output: z.union([z.strictObject({ a: z.int().multipleOf(7).min(8) }), z.null()]),
    },
    {
      name: 'short and long texts',
      output: z.object({ a: z.string().max(2), b: z.string().min(9) }),
    },
    {
      name: 'formats',
      output: z.object({ a: z.email(), b: z.uuid(), c: z.url(), d: z.iso.datetime() }),
    },
    { name: 'a map', output: z.record(z.string(), z.int()) },
    { name: 'a tuple', output: z.tuple([z.literal('at'), z.int().max(-2)]) },
    {
      name: 'recursion',
      output: {
        $ref: '#/$defs/N',
        $defs: {
          N: {
            type: 'object',
            properties: { v: { type: 'integer', minimum: 4 }, next: { $ref: '#/$defs/N' } },
            required: ['v'],
          },
        },
      },
    },
    {
      name: 'a pattern, which has no example',
      output: z.object({ plate: z.string().regex(/^[A-Z]{2}\d+$/) }),
    },
    {
      name: 'a rule of the library, which the example breaks',
      output: z.object({ a: z.int(), b: z.int() }).refine(({ a, b }) => a < b),
    },
  ];

  test.each(outputs)('shows an example only if it fits: $name', async ({ name, output }) => {
    const { requests } = await play({ mode: 'json' }, output, () => 'null');
    const prompt = textOf(requests[0]?.messages ?? []);
    const [, example] = /```json\n(.*)\n```/.exec(prompt) ?? [];
    const reading = readSchema(output);
    if (reading.kind === 'problem') throw new Error(reading.advice);
    if (/no example|breaks/.test(name)) {
      expect(example).toBeUndefined();
      return;
    }
    const shown = JSON.parse(example ?? '') as JsonObject;
    const value = shown['items'] ?? shown['value'] ?? shown;
    expect(checkJson(reading.schema.json, value).errors).toEqual([]);
  });

  test.each(['json', 'chat', 'react'] as const)(
    'of a few words is one of them in mode %s',
    async (mode) => {
      const output = z.enum(['spam', 'ham']);
      const write = (said: string): string =>
        mode === 'react' ? `<answer>${said}</answer>` : said;
      for (const said of ['spam', '"spam"', '**Spam**.', '{"value": "spam"}']) {
        const { value, requests } = await play({ mode }, output, () => write(said));
        expect([value, requests.length]).toEqual(['spam', 1]);
      }
    },
  );

  test('is sent whole where a schema is sent', async () => {
    const { requests } = await play({ mode: 'json' }, review, () => JSON.stringify(RIGHT));
    const reading = readSchema(review);

    expect(requests[0]?.schema).toEqual(reading.kind === 'schema' ? reading.schema.json : null);
  });

  test('has the descriptions of the agent in its schema', async () => {
    const more = { fieldDescriptions: { stars: 'From bad to good' } };
    const { requests } = await play({ mode: 'json', more }, review, () => JSON.stringify(RIGHT));

    expect(requests[0]?.schema).toMatchObject({
      properties: { stars: { minimum: 2, maximum: 5, description: 'From bad to good' } },
    });
    expect(textOf(requests[0]?.messages ?? [])).toContain(
      '- stars: integer 2..5. From bad to good',
    );
  });
});
