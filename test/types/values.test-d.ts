/** What runs take and give, as the compiler knows it from definitions; nothing here runs. */
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import * as v from 'valibot';
import {
  agentTool,
  defineAgent,
  fanOut,
  jsonAnswer,
  pipeline,
  unwrap,
  type AgentDefinition,
  type Everloop,
  type Json,
  type JsonObject,
  type RunHandle,
  type Step,
  type ToolDefinition,
} from '../../src/index.ts';
import { startInMemory } from '../../src/testing.ts';

declare const everloop: Everloop;
const model = 'm';

const review = defineAgent({
  name: 'review',
  mode: 'json',
  model,
  signature:
    '(review :string, day :datetime?) -> {sentiment :keyword, score :float?, tags [:string]}',
});
const context = { review: 'Great, but late.' };

// The value has the type of the signature.
const { sentiment, score, tags } = unwrap(
  await (await everloop.start(review, { context })).result(),
);
expectTypeOf(sentiment).toEqualTypeOf<string>();
expectTypeOf(score).toEqualTypeOf<number | null | undefined>();
expectTypeOf(tags).toEqualTypeOf<readonly string[]>();

expectTypeOf(await everloop.run(review, { context })).toEqualTypeOf(
  unwrap(await (await everloop.start(review, { context })).result()),
);
// @ts-expect-error an input of another type
await everloop.run(review, { context: { review: 7 } });
// @ts-expect-error a task gives no input
await everloop.run(review, 'x');

// A wrong context is refused.
// @ts-expect-error an input of another type
await everloop.start(review, { context: { review: 7 } });
// @ts-expect-error a misspelt input
await everloop.start(review, { context: { reviw: 'x' } });
// @ts-expect-error an input that nobody has
await everloop.start(review, { context: { review: 'x', stars: 5 } });
// @ts-expect-error no input
await everloop.start(review, { task: 'x' });
// @ts-expect-error a misspelt option
await everloop.start(review, { context, contxt: {} });
await everloop.start(review, { context: { review: 'x', _secret: 7, day: null } });

// By its name it is known by the type of its definition, or not at all.
const named = await everloop.start<typeof review>('review', { context });
expectTypeOf(unwrap(await named.result()).sentiment).toEqualTypeOf<string>();
// @ts-expect-error an input of another type
await everloop.start<typeof review>('review', { context: { review: 7 } });
const unknown = await everloop.start('review', { context: { anything: 7 } });
expectTypeOf(unknown).toEqualTypeOf<RunHandle>();
expectTypeOf(unwrap(await unknown.result())).toEqualTypeOf<Json>();

// Schemas: the value is what the library returns, after it went through JSON.
const graded = defineAgent({
  name: 'graded',
  mode: 'json',
  model,
  signature: {
    input: z.object({ text: z.string(), limit: z.number().default(5) }),
    output: z.object({
      mood: z.enum(['good', 'bad']),
      day: z.iso.date().transform((day) => new Date(day)),
      kind: z.discriminatedUnion('type', [
        z.object({ type: z.literal('praise') }),
        z.object({ type: z.literal('complaint'), order: z.number() }),
      ]),
    }),
  },
});
const grade = unwrap(await (await everloop.start(graded, { context: { text: 'x' } })).result());
expectTypeOf(grade.mood).toEqualTypeOf<'good' | 'bad'>();
expectTypeOf(grade.day).toEqualTypeOf<string>();
if (grade.kind.type === 'complaint') expectTypeOf(grade.kind.order).toEqualTypeOf<number>();
// @ts-expect-error the schema wants a text
await everloop.start(graded, { context: { text: 5 } });

const valibot = defineAgent({
  name: 'valibot',
  mode: 'json',
  model,
  signature: { output: v.object({ n: v.number() }) as never as z.ZodObject<{ n: z.ZodNumber }> },
});
expectTypeOf(
  unwrap(await (await everloop.start(valibot, { task: 'x' })).result()).n,
).toEqualTypeOf<number>();

// JSON Schema tells the compiler nothing.
const plain = defineAgent({
  name: 'plain',
  mode: 'json',
  model,
  signature: { output: { type: 'object' } },
});
expectTypeOf(unwrap(await (await everloop.start(plain, {})).result())).toEqualTypeOf<Json>();

// Without a signature the answer or the mode says it.
const clerk = defineAgent({ name: 'clerk', model });
expectTypeOf(clerk).toEqualTypeOf<AgentDefinition<string, JsonObject>>();
expectTypeOf(await everloop.run(clerk, 'x')).toEqualTypeOf<string>();
const counted = defineAgent({
  name: 'counted',
  mode: 'react',
  model,
  answer: jsonAnswer({ schema: z.object({ n: z.number() }) }),
});
expectTypeOf(
  unwrap(await (await everloop.start(counted, { task: 'x' })).result()).n,
).toEqualTypeOf<number>();
const solver = defineAgent({ name: 'solver', mode: 'lisp', model });
expectTypeOf(unwrap(await (await everloop.start(solver, {})).result())).toEqualTypeOf<Json>();
const writer = defineAgent({ name: 'writer', mode: 'text', model });
expectTypeOf(unwrap(await (await everloop.start(writer, {})).result())).toEqualTypeOf<string>();

// The parts of a tree pass it on.
const line = pipeline('line', [review, writer]);
const lineValue = unwrap(await (await everloop.start(line, { context })).result());
expectTypeOf(lineValue).toEqualTypeOf<string>();
// @ts-expect-error the first stage wants a review
await everloop.start(line, { context: { mail: 'x' } });
const all = fanOut('all', review, { onFailure: 'null' });
const [first] = unwrap(
  await (await everloop.start(all, { context: { items: [context] } })).result(),
);
expectTypeOf(first?.sentiment).toEqualTypeOf<string | undefined>();
// @ts-expect-error items are reviews
await everloop.start(all, { context: { items: [{ mail: 'x' }] } });
expectTypeOf(agentTool({ agent: clerk })).toEqualTypeOf<ToolDefinition<JsonObject>>();

// A run in memory is typed as well.
const inMemory = await startInMemory({ agent: review, context }).result;
expectTypeOf(unwrap(inMemory).sentiment).toEqualTypeOf<string>();
// @ts-expect-error an input of another type
startInMemory({ agent: review, context: { review: 7 } });

// A Step is a context, whatever its value is.
await everloop.start(review, { context: inMemory });

// Typed agents, runs and Steps go where untyped ones do.
const list: readonly AgentDefinition[] = [review, graded, clerk, line, all];
const handles: readonly RunHandle[] = [
  named,
  await everloop.start(graded, { context: grade as never }),
];
const steps: readonly Step[] = [inMemory];
void [list, handles, steps];
