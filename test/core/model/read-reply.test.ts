import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUsageError } from '../../../src/core/base/usage-error.ts';
import type { NativeCall, Reply } from '../../../src/core/contract/model.ts';
import { readReply } from '../../../src/core/model/read-reply.ts';
import { noUsage } from '../../../src/core/model/usage.ts';

const entry = { id: 'mine' };
const empty: Reply = {
  parts: [],
  finishReason: 'stop',
  usage: noUsage,
  usageKnown: false,
  model: 'mine',
};
const call = (fields: Omit<NativeCall, 'type'>): NativeCall => ({ type: 'call', ...fields });
const text = (value: string) => ({ type: 'text' as const, text: value });
const reasoning = (value: string) => ({ type: 'reasoning' as const, text: value });

describe('readReply', () => {
  const replies: { name: string; raw: unknown; reply: Partial<Reply> }[] = [
    { name: 'a string', raw: 'Done.', reply: { parts: [text('Done.')] } },
    { name: 'an empty string', raw: '', reply: {} },
    { name: 'content', raw: { content: 'Done.' }, reply: { parts: [text('Done.')] } },
    { name: 'content null', raw: { content: null }, reply: {} },
    {
      name: 'reasoning before content',
      raw: { content: 'Done.', reasoning: 'Hm.' },
      reply: { parts: [reasoning('Hm.'), text('Done.')] },
    },
    {
      name: 'content as a list of texts',
      raw: {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      reply: { parts: [text('ab')] },
    },
    { name: 'content as JSON', raw: { content: { a: 1 } }, reply: { parts: [text('{"a":1}')] } },
    {
      name: 'parts',
      raw: {
        parts: [
          { type: 'reasoning', text: '', providerData: { anthropic: { redactedData: 'x' } } },
          text('Done.'),
          {
            type: 'tool_call',
            callId: 'c1',
            tool: 'look',
            args: { at: 1 },
            providerData: { id: 'c1' },
          },
          { type: 'media', mediaType: 'image/png', data: '' },
          text(''),
        ],
      },
      reply: {
        parts: [
          { type: 'reasoning', text: '', providerData: { anthropic: { redactedData: 'x' } } },
          text('Done.'),
          call({ id: 'c1', tool: 'look', args: { at: 1 }, providerData: { id: 'c1' } }),
        ],
        finishReason: 'tool_calls',
      },
    },
    {
      name: 'calls with args, arguments, text, both and none',
      raw: {
        toolCalls: [
          { id: 'c1', name: 'a', args: { at: 1 } },
          { name: 'b', arguments: { at: 2 } },
          { name: 'c', args: '{"at": 3}' },
          { name: 'd', args: { at: 4 }, arguments: { at: 5 } },
          { name: 'e' },
          { name: 'f', args: null, arguments: {} },
          { name: 'g', arguments: ' ' },
        ],
      },
      reply: {
        parts: [
          call({ id: 'c1', tool: 'a', args: { at: 1 } }),
          call({ tool: 'b', args: { at: 2 } }),
          call({ tool: 'c', args: '{"at": 3}' }),
          call({ tool: 'd', args: { at: 4 } }),
          call({ tool: 'e', args: {} }),
          call({ tool: 'f', args: {} }),
          call({ tool: 'g', args: {} }),
        ],
        finishReason: 'tool_calls',
      },
    },
    {
      name: 'calls without a name and with an odd id',
      raw: { toolCalls: [{ args: {} }, { id: 7, name: 8, args: [1] }] },
      reply: {
        parts: [call({ tool: '', args: {} }), call({ tool: '', args: [1] })],
        finishReason: 'tool_calls',
      },
    },
    {
      name: 'arguments that are no JSON',
      raw: {
        toolCalls: [
          { name: 'a', args: 1n },
          { name: 'b', args: cyclic() },
        ],
      },
      reply: {
        parts: [call({ tool: 'a', args: '(not JSON)' }), call({ tool: 'b', args: '(not JSON)' })],
        finishReason: 'tool_calls',
      },
    },
    {
      name: 'a finish reason',
      raw: { content: 'Do', finishReason: 'length' },
      reply: { parts: [text('Do')], finishReason: 'length' },
    },
    {
      name: 'a finish reason with a dash',
      raw: { finishReason: 'content-filter' },
      reply: { finishReason: 'content_filter' },
    },
    {
      name: 'an unknown finish reason',
      raw: { finishReason: 'end_turn' },
      reply: { finishReason: 'other' },
    },
    {
      name: 'usage, with its cost',
      raw: { content: 'x', usage: { prompt_tokens: 10, completion_tokens: 2 } },
      reply: {
        parts: [text('x')],
        usage: { ...noUsage, inputTokens: 10, outputTokens: 2, costMicroUsd: 14 },
        usageKnown: true,
      },
    },
    {
      name: 'a model of its own: the entry counts',
      raw: { content: 'x', model: 'other' },
      reply: { parts: [text('x')] },
    },
    {
      name: 'snake case, and calls as OpenAI writes them',
      raw: {
        tool_calls: [{ id: 'c1', function: { name: 'a', arguments: '{"at": 1}' } }],
        finish_reason: 'length',
        tokens: { input: 10, output: 2 },
      },
      reply: {
        parts: [call({ id: 'c1', tool: 'a', args: '{"at": 1}' })],
        finishReason: 'length',
        usage: { ...noUsage, inputTokens: 10, outputTokens: 2, costMicroUsd: 14 },
        usageKnown: true,
      },
    },
    { name: 'an empty object', raw: {}, reply: {} },
    {
      name: 'usage without counts',
      raw: { content: '', usage: { prompt_tokens: null } },
      reply: {},
    },
  ];

  const of = 'of the reply of model `mine` to be';
  const advice = 'Change what the model function returns.';
  const whole = 'Expected the reply of model `mine` to be a text or an object with `content`, got';
  test.each([
    { raw: undefined, message: `${whole} none. Return one from the model function.` },
    { raw: 42, message: `${whole} 42. Return one from the model function.` },
    { raw: ['Done.'], message: `${whole} ["Done."]. Return one from the model function.` },
    {
      raw: { text: 'Done.' },
      message: `Expected the reply of model \`mine\` to have \`content\`, \`parts\` or \`toolCalls\`, got \`text\`. ${advice}`,
    },
    { raw: { parts: 'x' }, message: `Expected \`parts\` ${of} a list, got "x". ${advice}` },
    { raw: { tool_calls: {} }, message: `Expected \`toolCalls\` ${of} a list, got {}. ${advice}` },
    {
      raw: { toolCalls: [{ name: 'a' }, null] },
      message: `Expected \`toolCalls[1]\` ${of} an object, got null. ${advice}`,
    },
    { raw: { finishReason: 3 }, message: `Expected \`finishReason\` ${of} text, got 3. ${advice}` },
    {
      raw: { content: cyclic() },
      message: `Expected \`content\` ${of} text or JSON, got an object that is not JSON. ${advice}`,
    },
    {
      raw: { content: 'x', usage: { total: 5 } },
      message: `Expected \`usage\` ${of} counts such as { inputTokens, outputTokens }, got {"total":5}. ${advice}`,
    },
  ])('names what it cannot read: $message', ({ raw, message }) => {
    expect(() => readReply(raw, entry)).toThrow(
      expect.objectContaining({ code: 'model_reply', message }),
    );
  });

  test.each(replies)('reads $name', ({ raw, reply }) => {
    const read = readReply(raw, { ...entry, price: { input: 1, output: 2 } });

    expect(read).toEqual({ ...empty, ...reply });
  });

  test('gives JSON or a UsageError, whatever a function returns', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            parts: fc.anything({ withBigInt: true, withMap: true, withDate: true }),
            content: fc.anything({ withBigInt: true }),
            reasoning: fc.anything(),
            toolCalls: fc.array(fc.anything({ withBigInt: true, withSparseArray: true })),
            finishReason: fc.anything(),
            usage: fc.anything(),
          },
          { requiredKeys: [] },
        ),
        (raw) => {
          const reply = readOrProblem(raw);
          if (reply === undefined) return;
          expect(JSON.parse(JSON.stringify(reply))).toEqual(reply);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function readOrProblem(raw: unknown): Reply | undefined {
  try {
    return readReply(raw, entry);
  } catch (error) {
    expect(isUsageError(error)).toBe(true);
    return undefined;
  }
}

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
