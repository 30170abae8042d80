import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../../src/core/contract/model.ts';
import { readReply } from '../../../src/core/model/read-reply.ts';
import { noUsage } from '../../../src/core/model/usage.ts';

const entry = { id: 'mine' };
const empty: Reply = {
  parts: [],
  calls: [],
  finishReason: 'stop',
  usage: noUsage,
  usageKnown: false,
  model: 'mine',
};
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
        ],
        calls: [{ id: 'c1', tool: 'look', args: { at: 1 }, providerData: { id: 'c1' } }],
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
        calls: [
          { id: 'c1', tool: 'a', args: { at: 1 } },
          { tool: 'b', args: { at: 2 } },
          { tool: 'c', args: '{"at": 3}' },
          { tool: 'd', args: { at: 4 } },
          { tool: 'e', args: {} },
          { tool: 'f', args: {} },
          { tool: 'g', args: {} },
        ],
        finishReason: 'tool_calls',
      },
    },
    {
      name: 'calls without a name, with an odd id, and what is no call',
      raw: { toolCalls: [{ args: {} }, { id: 7, name: 8, args: [1] }, null, 'look'] },
      reply: {
        calls: [
          { tool: '', args: {} },
          { tool: '', args: [1] },
        ],
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
        calls: [
          { tool: 'a', args: '(not JSON)' },
          { tool: 'b', args: '(not JSON)' },
        ],
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
    { name: 'nothing', raw: undefined, reply: {} },
    { name: 'null', raw: null, reply: {} },
    { name: 'a number', raw: 42, reply: {} },
    { name: 'a list', raw: ['Done.'], reply: {} },
    { name: 'a Map', raw: new Map([['content', 'Done.']]), reply: {} },
    { name: 'parts and calls that are no lists', raw: { parts: 'x', toolCalls: {} }, reply: {} },
    { name: 'content that holds itself', raw: { content: cyclic() }, reply: {} },
  ];

  test.each(replies)('reads $name', ({ raw, reply }) => {
    const read = readReply(raw, { ...entry, price: { input: 1, output: 2 } });

    expect(read).toEqual({ ...empty, ...reply });
  });

  test('never throws, and gives JSON, whatever a function returns', () => {
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
          const reply = readReply(raw, entry);
          expect(JSON.parse(JSON.stringify(reply))).toEqual(reply);
        },
      ),
      { numRuns: 300 },
    );
  });
});

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
