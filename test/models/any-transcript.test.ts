/**
 * What goes out obeys the rules of its target: whichever providers wrote a transcript, a provider that
 * checks as the real ones do refuses no request.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Message } from '../../src/core/base/message.ts';
import { callEntry } from '../../src/models/model-adapter.ts';
import { fitMessages } from '../../src/models/fit/fit-messages.ts';
import { traitsOf } from '../../src/models/fit/traits.ts';
import { modelAt, type Protocol } from '../support/aimock.ts';
import { extent } from '../support/extent.ts';
import { UNCHECKED } from '../support/refusing/refuse-live.ts';
import { jsonOf, schemas, SENT_BY_SERVERS } from '../support/refusing/random-schemas.ts';
import { transcripts, WRITERS } from '../support/refusing/random-transcripts.ts';
import {
  startRefusingProvider,
  type RefusingProvider,
} from '../support/refusing/refusing-provider.ts';

let provider: RefusingProvider;

beforeAll(async () => {
  provider = await startRefusingProvider();
});

afterAll(() => provider.stop());

interface Target {
  readonly protocol: Protocol;
  readonly modelId: string;
  readonly path?: string;
  readonly settings?: JsonObject;
}

const thinking = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };

const TARGETS: readonly Target[] = [
  { protocol: 'anthropic', modelId: 'claude-sonnet-4-5' },
  {
    protocol: 'anthropic',
    modelId: 'claude-sonnet-4-5',
    settings: { providerOptions: thinking, maxOutputTokens: 4_000 },
  },
  {
    protocol: 'anthropic',
    modelId: 'claude-sonnet-4-5',
    settings: { reasoning: 'low', maxOutputTokens: 20_000 },
  },
  { protocol: 'google', modelId: 'gemini-3-pro-preview' },
  { protocol: 'google', modelId: 'gemini-2.5-pro' },
  { protocol: 'openai-responses', modelId: 'gpt-5' },
  { protocol: 'openai-responses', modelId: 'gpt-4o' },
  { protocol: 'openai-chat', modelId: 'gpt-5', path: '/openai' },
  { protocol: 'openai-compatible', modelId: 'test-model' },
  { protocol: 'openai-compatible', modelId: 'deepseek-chat' },
  { protocol: 'openai-compatible', modelId: 'mistral-large' },
];

/** A schema of the tool, or of an answer. */
interface Shape {
  readonly schema: JsonObject;
  readonly use: 'tool' | 'answer' | 'answer by call';
  readonly strict: boolean | undefined;
}

const shapes: fc.Arbitrary<Shape> = fc.record({
  schema: fc.oneof(schemas.map(jsonOf), fc.constantFrom(...SENT_BY_SERVERS)),
  use: fc.constantFrom('tool', 'tool', 'answer', 'answer by call'),
  strict: fc.constantFrom(true, false, undefined),
});

async function ask(target: Target, messages: readonly Message[], shape: Shape): Promise<void> {
  const { protocol, modelId, path = '', settings = {} } = target;
  const model = modelAt(`${provider.url}${UNCHECKED}${path}`, protocol, modelId);
  const { schema, use, strict } = shape;
  // Claude refuses to go on with calls of tools that a request does not have.
  const hasCalls = messages.some(({ parts }) => parts.some(({ type }) => type === 'tool_call'));
  const name = use === 'answer by call' ? 'respond' : 'look';
  const tools = [{ name, description: 'Looks.', parameters: schema }];
  const isAnswer = use === 'answer' && !(hasCalls && protocol === 'anthropic');
  const request = {
    mode: 'chat' as const,
    agent: 'tester',
    runId: 'run-1',
    iteration: 1,
    attempt: 1,
    messages,
    ...(isAnswer ? { schema } : { tools }),
    ...(use === 'answer by call' ? { toolChoice: { tool: name } } : {}),
    settings,
    cacheUpTo: messages.length,
  };
  const { signal } = new AbortController();
  // No medium is fetched here.
  const io = { signal, onChunk: () => undefined, isWhole: true, mediaHosts: [] };
  const before = provider.refusals.length;
  const entry = { id: 'm', model, ...(strict === undefined ? {} : { strict }) };
  const error = await callEntry(entry, request, io).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const refused = provider.refusals[before];
  expect(refused?.problem, JSON.stringify(refused?.body)).toBeUndefined();
  expect(error).toBeUndefined();
}

describe('a request with a transcript of any providers', () => {
  test.each(TARGETS)(
    'is taken by $protocol, $modelId, $settings',
    { timeout: 600_000 },
    async (target) => {
      const cases = fc.asyncProperty(transcripts(), shapes, (messages, shape) =>
        ask(target, messages, shape),
      );

      await fc.assert(cases, { numRuns: extent(2_000, 60) });
    },
  );
});

describe('messages that are fitted', () => {
  const targets = TARGETS.filter(({ settings }) => settings === undefined);
  const traitsFor = ({ protocol, modelId }: Target) =>
    traitsOf(modelAt('http://127.0.0.1:1', protocol, modelId));

  test.each(targets)('have ids that $protocol, $modelId takes, each once', async (target) => {
    const traits = await traitsFor(target);
    const pattern =
      target.modelId === 'mistral-large' ? /^[A-Za-z0-9]{9}$/ : /^[A-Za-z0-9_-]{1,40}$/;
    fc.assert(
      fc.property(transcripts(), (messages) => {
        const { messages: fitted } = fitMessages(messages, traits);
        const calls = fitted.flatMap(({ parts }) =>
          parts.filter((part) => part.type === 'tool_call'),
        );
        const ids = calls.map(({ providerData }) => (providerData as { id: string }).id);

        expect(ids.filter((id) => !pattern.test(id))).toEqual([]);
        expect(new Set(ids).size).toBe(ids.length);
        const known = new Map(messages.flatMap(({ parts }) => parts.flatMap(idsOf)));
        const kept = calls.filter(({ callId }) => pattern.test(known.get(callId) ?? ''));
        const first = kept.filter(
          ({ callId }, index) =>
            kept.findIndex((one) => known.get(one.callId) === known.get(callId)) === index,
        );
        // A fitting id stays, unless an earlier call has it.
        expect(first.map(({ providerData }) => (providerData as { id: string }).id)).toEqual(
          first.map(({ callId }) => known.get(callId)),
        );
      }),
      { numRuns: extent(500) },
    );
  });

  test.each(targets)('are the same with more behind them: $protocol, $modelId', async (target) => {
    const traits = await traitsFor(target);
    // A hosted call whose result may still come stays until more follows.
    const whole = transcripts(WRITERS, ['thought', 'text', 'blank', 'call', 'hosted', 'custom']);
    fc.assert(
      fc.property(whole, whole, (messages, more) => {
        const renamed = more.map((message) => ({
          ...message,
          parts: message.parts.map((part) =>
            'callId' in part ? { ...part, callId: `9${part.callId}` } : part,
          ),
        }));
        const alone = fitMessages(messages, traits);
        const both = fitMessages([...messages, ...renamed], traits);
        // What may still be joined with what follows, and what was added at the end, is not compared.
        const settled = alone.sources.filter((source) => source < messages.length - 1).length - 1;
        const end = Math.max(0, settled);

        expect(both.messages.slice(0, end)).toEqual(alone.messages.slice(0, end));
      }),
      { numRuns: extent(500) },
    );
  });

  test('of one provider go back to it as they came, in their order', async () => {
    for (const writer of WRITERS) {
      const { by } = writer;
      if (by === undefined || writer.family === 'chat') continue;
      const protocol = { anthropic: 'anthropic', google: 'google', responses: 'openai-responses' }[
        writer.family as string
      ] as Protocol;
      const traits = await traitsFor({ protocol, modelId: by.model });
      const told = transcripts([writer], ['thought', 'text', 'call', 'hosted']);
      fc.assert(
        fc.property(told, (messages) => {
          const { messages: fitted } = fitMessages(messages, traits);
          const written = (list: readonly Message[]) =>
            list.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []));
          const kept = written(fitted).map(withoutId);
          const left = written(messages)
            .map(withoutId)
            .filter((part) => !kept.includes(part));

          // Only reasoning after which nothing comes is left out.
          expect(left.filter((part) => !part.startsWith('{"type":"reasoning"'))).toEqual([]);
          expect(kept).toEqual(
            written(messages)
              .map(withoutId)
              .filter((part) => kept.includes(part)),
          );
        }),
        { numRuns: extent(300) },
      );
    }
  });
});

/** The provider's id of a call, by our own. */
function idsOf(part: Message['parts'][number]): readonly (readonly [string, string])[] {
  if (part.type !== 'tool_call') return [];
  const { id } = part.providerData as { readonly id?: string };
  return id === undefined ? [] : [[part.callId, id]];
}

function withoutId(part: Message['parts'][number]): string {
  if (part.type !== 'tool_call') return JSON.stringify(part);
  const { data } = part.providerData as { readonly data?: unknown };
  return JSON.stringify({ ...part, providerData: data ?? null });
}
