import { convertToModelMessages, type ModelMessage, type UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { bringAlong } from '../../src/client/conversations/bring-along.ts';
import { readEarlier } from '../../src/core/start/earlier-messages.ts';

const PAGE: readonly UIMessage[] = [
  {
    id: '1',
    role: 'user',
    parts: [
      { type: 'text', text: 'Where is my order?' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' },
    ],
  },
  {
    id: '2',
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      {
        type: 'tool-order',
        toolCallId: 'c-9',
        state: 'output-available',
        input: { n: 1 },
        output: { state: 'shipped' },
      },
      {
        type: 'dynamic-tool',
        toolName: 'mail',
        toolCallId: 'c-10',
        state: 'output-error',
        input: {},
        errorText: 'no mailbox',
      },
      { type: 'text', text: 'It is shipped.' },
    ],
  },
] as const;

const BROUGHT = [
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Where is my order?' },
      { type: 'media', mediaType: 'image/png', data: 'aGk=' },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'tool_call', callId: '0.1', tool: 'order', args: { n: 1 } },
      { type: 'tool_call', callId: '0.2', tool: 'mail', args: {} },
      { type: 'text', text: 'It is shipped.' },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        type: 'tool_result',
        callId: '0.1',
        tool: 'order',
        parts: [{ type: 'text', text: '{"state":"shipped"}' }],
        isError: false,
      },
      {
        type: 'tool_result',
        callId: '0.2',
        tool: 'mail',
        parts: [{ type: 'text', text: 'no mailbox' }],
        isError: true,
      },
    ],
  },
];

describe('an old chat', () => {
  it('comes along from a page, with files, calls and results', () => {
    const brought = bringAlong(PAGE);
    expect(brought).toEqual(BROUGHT);
    expect(readEarlier(brought)).toEqual({ kind: 'messages', messages: brought });
  });

  it('comes along as a model got it', async () => {
    const forModel: ModelMessage[] = await convertToModelMessages([...PAGE]);
    const brought = bringAlong([{ role: 'system', content: 'Be kind.' }, ...forModel]);
    const results = brought.flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'tool_result'),
    );
    expect(results).toEqual(BROUGHT[2]?.parts);
    expect(brought[0]).toEqual(BROUGHT[0]);
    expect(brought.every(({ role }) => role !== 'system')).toBe(true);
    expect(readEarlier(brought).kind).toBe('messages');
  });

  it('is refused where it is none, by its place', () => {
    for (const wrong of [null, 'hello', 7, { role: 'robot', content: 'a' }, { role: 'user' }]) {
      expect(() => bringAlong([PAGE[0], wrong])).toThrow(/`messages\[1\]`/);
    }
  });

  it('is checked again where it arrives: any client may have written it', () => {
    for (const wrong of [
      null,
      {},
      [null],
      [{ role: 'system', parts: [{ type: 'text', text: 'a' }] }],
      [{ role: 'user', parts: [] }],
      [{ role: 'user', parts: [{ type: 'toString' }] }],
      [{ role: 'user', parts: [{ type: 'text' }] }],
      [{ role: 'user', parts: [{ type: 'media', mediaType: 'a/b', url: 'u', data: 'd' }] }],
      [{ role: 'tool', parts: [{ type: 'tool_result', callId: '1', tool: 't', isError: false }] }],
    ]) {
      expect(readEarlier(wrong).kind).toBe('invalid');
    }
  });
});
