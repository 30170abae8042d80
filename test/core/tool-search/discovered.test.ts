import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/core/base/message.ts';
import { discoveredTools, nextHead } from '../../../src/core/tool-search/discovered.ts';
import type { TranscriptHead } from '../../../src/core/contract/transcript.ts';
import { chatSpec } from '../runs/spec-fixture.ts';

const toolSearch = { hint: 'names', pageSize: 3, pins: [], engines: [], noResults: '' } as const;
const head: TranscriptHead = { spec: chatSpec({ toolSearch }), task: { text: 'Go' } };

function showing(...shown: readonly string[]): Message {
  const part = {
    type: 'tool_result',
    callId: '1.1',
    tool: 'x',
    parts: [],
    isError: false,
  } as const;
  return { role: 'tool', parts: [{ ...part, shown }] };
}

const many = Array.from({ length: 64 }, (_, index) => `tool_${index}`);

describe('[row 27] tools that searches have shown', () => {
  test.each([
    { name: 'none', before: undefined, messages: [], discovered: [] },
    {
      name: 'those of the messages behind those of the head, each once',
      before: ['a'],
      messages: [showing('b', 'a'), showing('c', 'b')],
      discovered: ['a', 'b', 'c'],
    },
    {
      name: 'the newest 64; one shown again counts as new and keeps its place',
      before: many,
      messages: [showing('tool_0', 'new')],
      discovered: ['tool_0', ...many.slice(2), 'new'],
    },
  ])('$name', ({ before, messages, discovered }) => {
    const from = before === undefined ? head : { ...head, discovered: before };

    expect(discoveredTools(from, messages)).toEqual(discovered);
  });

  test('the head changes only when something new was shown', () => {
    const next = nextHead(head, [showing('a')]);

    expect(next).toEqual({ ...head, discovered: ['a'] });
    expect(nextHead(next, [showing('a')])).toBe(next);
    expect(nextHead(head, [])).toBe(head);
  });

  test('without tool search messages are not looked at', () => {
    const plain = { ...head, spec: chatSpec() };

    expect(nextHead(plain, [showing('a')])).toBe(plain);
  });
});
