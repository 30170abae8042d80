/** What the definitions infer; checked by the compiler, nothing here runs. */
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonAnswer } from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { ToolContext, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { PreparedAgent } from '../../src/registry/load-agent.ts';
import type { StandardSchema } from '../../src/define/schema/standard-schema.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Limit } from '../../src/core/contract/limit.ts';

// Arguments are what the schema object makes of them: defaults filled in, transforms applied.
const search = defineTool({
  name: 'search',
  description: 'Finds.',
  parameters: z.object({
    query: z.string(),
    limit: z.number().default(5),
    day: z.iso.date().transform((day) => new Date(day)),
    tag: z.string().optional(),
  }),
  execute: async ({ query, limit, day, tag }, { signal, idempotencyKey, count }) => {
    expectTypeOf(query).toEqualTypeOf<string>();
    expectTypeOf(limit).toEqualTypeOf<number>();
    expectTypeOf(day).toEqualTypeOf<Date>();
    expectTypeOf(tag).toEqualTypeOf<string | undefined>();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(idempotencyKey).toEqualTypeOf<string>();
    expectTypeOf(count).toEqualTypeOf<(key: string, by?: number) => void>();
    return { hits: [query] };
  },
});
expectTypeOf(search).toEqualTypeOf<
  ToolDefinition<{ query: string; limit: number; day: Date; tag?: string | undefined }>
>();

// Any library of the standard will do.
declare const custom: StandardSchema<{ a: string }, { a: number }>;
defineTool({
  name: 'own',
  description: 'Own.',
  parameters: custom,
  jsonSchema: { type: 'object' },
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number }>();
  },
});

// JSON Schema says nothing to the compiler: arguments are JSON.
defineTool({
  name: 'plain',
  description: 'Plain.',
  parameters: { type: 'object', properties: { a: { type: 'string' } } },
  execute: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<JsonObject>();
    expectTypeOf(context).toEqualTypeOf<ToolContext>();
  },
});
defineTool({
  name: 'nothing',
  description: 'Takes nothing.',
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<JsonObject>();
  },
});

const even = defineValidator({
  name: 'even',
  validate: (answer: { readonly n: number }) =>
    answer.n % 2 === 0 ? { accepted: true } : { accepted: false, feedback: 'Even, please.' },
});

// Tools and validators of different types stand in one list.
defineAgent({
  name: 'tester',
  model: async () => 'hi',
  tools: [search, defineTool({ name: 'x', description: 'X.', execute: () => 1 })],
  answer: jsonAnswer({ schema: z.object({ n: z.number() }), validators: [even] }),
  limits: { iterations: 5, custom: [{ kind: 'exact', key: 'shop:refunds', max: 1 }] },
});

// The signal of a model function goes to whatever takes one.
defineAgent({
  name: 'tester',
  model: async (_request, { signal }) => {
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    const response = await fetch('https://model.example', { signal });
    return response.text();
  },
});

defineAgent({ name: 'tester', model: 'm', mode: 'ptc_lisp' });
// @ts-expect-error a mode that nobody has
defineAgent({ name: 'tester', model: 'm', mode: 'yaml' });
// @ts-expect-error a misspelt option
defineAgent({ name: 'tester', model: 'm', tool: [] });
// @ts-expect-error a tool needs a function
defineTool({ name: 'x', description: 'X.' });
// @ts-expect-error a validator says yes or no
defineValidator({ name: 'x', validate: () => ({ accepted: 'maybe' }) });

/** Interfaces have no index signature, so what is asked is whether each field is JSON. */
type IsJson<T> = T extends Json
  ? true
  : T extends (...args: never) => unknown
    ? false
    : T extends object
      ? false extends { [Key in keyof T]-?: IsJson<Exclude<T[Key], undefined>> }[keyof T]
        ? false
        : true
      : false;

// What reaches the workflow survives JSON.
expectTypeOf<IsJson<Limit>>().toEqualTypeOf<true>();
// Messages hold messages, and types of signatures hold types: the compiler cannot walk down a type that contains itself.
expectTypeOf<
  IsJson<Omit<PreparedAgent['spec'], 'examples' | 'signature' | 'answer' | 'tools'>>
>().toEqualTypeOf<true>();
expectTypeOf<IsJson<Omit<PreparedAgent['spec']['tools'][number], 'llm'>>>().toEqualTypeOf<true>();
expectTypeOf<IsJson<Omit<PreparedAgent, 'spec'>>>().toEqualTypeOf<true>();
expectTypeOf<IsJson<{ at: Date }>>().toEqualTypeOf<false>();
