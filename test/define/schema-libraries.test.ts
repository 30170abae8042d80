import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { fitValue } from '../../src/tools/fit-value.ts';
import { readSchema, type SchemaInput } from '../../src/define/schema/value-schema.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { bodiesOf } from '../support/runs.ts';

/** A reminder: to whom, how often, by which way. */
interface Library {
  readonly library: string;
  readonly schema: SchemaInput;
  readonly jsonSchema: JsonObject;
  /** What its own check says, which no JSON Schema can. */
  readonly issue: string;
}

const libraries: readonly Library[] = [
  {
    library: 'zod',
    schema: z.object({
      to: z.email().refine((to) => to.endsWith('@example.com'), 'not ours'),
      every: z.int().positive().default(1),
      kind: z.enum(['call', 'mail']),
    }),
    jsonSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', format: 'email' },
        every: { type: 'integer', default: 1, exclusiveMinimum: 0 },
        kind: { type: 'string', enum: ['call', 'mail'] },
      },
      required: ['to', 'kind'],
    },
    issue: 'to: not ours',
  },
  {
    library: 'valibot',
    schema: toStandardJsonSchema(
      v.object({
        to: v.pipe(v.string(), v.email(), v.endsWith('@example.com', 'not ours')),
        every: v.optional(v.pipe(v.number(), v.integer(), v.gtValue(0)), 1),
        kind: v.picklist(['call', 'mail']),
      }),
    ),
    jsonSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', format: 'email' },
        every: { type: 'integer', default: 1, exclusiveMinimum: 0 },
        kind: { type: 'string', enum: ['call', 'mail'] },
      },
      required: ['to', 'kind'],
    },
    issue: 'to: not ours',
  },
  {
    library: 'arktype',
    schema: type({
      to: type('string').narrow(
        (to, context) => to.endsWith('@example.com') || context.reject('ours'),
      ),
      every: 'number.integer > 0 = 1',
      kind: "'call' | 'mail'",
    }),
    jsonSchema: {
      type: 'object',
      properties: {
        to: { type: 'string' },
        every: { type: 'integer', exclusiveMinimum: 0 },
        kind: { enum: ['call', 'mail'] },
      },
      required: ['kind', 'to'],
    },
    issue: 'to: to must be ours (was "a@example.org")',
  },
];

describe.each(libraries)('[row 15] a schema of $library', ({ schema, jsonSchema, issue }) => {
  const reading = readSchema(schema);
  if (reading.kind === 'problem') throw new Error(`${reading.got}: ${reading.advice}`);
  const given = { to: 'a@example.com', kind: 'call' };

  test('is shown to the model as JSON Schema', () => {
    expect(reading.schema.json).toEqual(jsonSchema);
  });

  test.each([
    {
      name: 'a value that fits',
      value: given,
      fit: { kind: 'fits', value: { ...given, every: 1 } },
    },
    {
      name: 'what the JSON Schema refuses',
      value: { ...given, every: 0, kind: 'fax' },
      fit: {
        kind: 'unfit',
        lines: [
          'every: expected a number > 0, got number 0',
          'kind: expected one of "call", "mail", got string "fax"',
        ],
      },
    },
    {
      name: 'what only the library refuses',
      value: { ...given, to: 'a@example.org' },
      fit: { kind: 'unfit', lines: [issue] },
    },
  ])('checks $name', async ({ value, fit }) => {
    expect(await fitValue(reading.schema, value)).toEqual(fit);
  });
});

describe('[row 15] a tool with a schema of a library', () => {
  // The types of the arguments come from the schema: that this compiles is half of the test.
  const tools = {
    zod: defineTool({
      name: 'double',
      description: 'Doubles.',
      parameters: z.object({ n: z.int() }),
      execute: ({ n }) => n * 2,
    }),
    valibot: defineTool({
      name: 'double',
      description: 'Doubles.',
      parameters: toStandardJsonSchema(v.object({ n: v.pipe(v.number(), v.integer()) })),
      execute: ({ n }) => n * 2,
    }),
    arktype: defineTool({
      name: 'double',
      description: 'Doubles.',
      parameters: type({ n: 'number.integer' }),
      execute: ({ n }) => n * 2,
    }),
  };

  test.each(Object.entries(tools))('of %s gets its arguments', async (_library, tool) => {
    const script = scriptedModel([
      '<action>\n{tool: double, args: {n: 21}}\n</action>',
      '<answer>done</answer>',
    ]);
    const agent = defineAgent({ name: 'clerk', mode: 'react', model: script.model, tools: [tool] });

    const { result, events } = startInMemory({ agent, task: 'Double it.' });
    await result;

    expect(bodiesOf(events, 'agent:tool_call:after').map(({ output }) => output)).toEqual([42]);
  });
});

describe('[row 15] times and moments of libraries', () => {
  test.each<{ readonly name: string; readonly schema: SchemaInput; readonly value: string }>([
    { name: 'zod, time', schema: z.iso.time(), value: '09:05:00' },
    {
      name: 'zod, moment without zone',
      schema: z.iso.datetime({ local: true }),
      value: '2026-03-10T09:05:00Z',
    },
    { name: 'zod, duration', schema: z.iso.duration(), value: 'PT1H30M' },
    {
      name: 'valibot, time',
      schema: toStandardJsonSchema(v.pipe(v.string(), v.isoTime())),
      value: '09:05',
    },
    {
      name: 'valibot, moment',
      schema: toStandardJsonSchema(v.pipe(v.string(), v.isoTimestamp())),
      value: '2026-03-10T09:05:00Z',
    },
    { name: 'arktype, date', schema: type('string.date.iso'), value: '2026-03-10' },
  ])('pass both checks: $name', async ({ schema, value }) => {
    const reading = readSchema(schema);
    if (reading.kind === 'problem') throw new Error(`${reading.got}: ${reading.advice}`);

    expect(await fitValue(reading.schema, value)).toEqual({ kind: 'fits', value });
  });
});
