import { describe, expect, it } from 'vitest';
import { contextTokens } from '../../../src/core/ask/context-tokens.ts';
import { buildRequest } from '../../../src/core/modes/modes.ts';
import { startState, type RunState } from '../../../src/core/run/run-state.ts';
import type { ReplyMark } from '../../../src/core/contract/compaction.ts';
import { textMessage, textOf, type Message } from '../../../src/core/base/message.ts';
import { chatSpec, reactSpec } from '../runs/spec-fixture.ts';
import { entryOf } from '../compaction/entries.ts';

const identity = { runId: 'r', agentPath: 'tester', depth: 0, startedAt: 0 };
const IMAGE = { type: 'media', mediaType: 'image/png', url: 'https://a/b' } as const;

function stateWith(
  messages: readonly Message[],
  lastReply: ReplyMark | null = null,
  spec = reactSpec(),
): RunState {
  const state = startState(identity, { spec, task: { text: 'Go' } });
  const scratchpad = messages.length === 0 ? [] : [entryOf(0, { messages })];
  return { ...state, scratchpad, compaction: { snapshots: {}, lastReply } };
}

describe('the estimate of the next request', () => {
  it.each<{ name: string; messages: readonly Message[]; mark: ReplyMark; tokens: number }>([
    {
      name: 'nothing new',
      messages: [textMessage('user', 'old')],
      mark: { epoch: 1, messages: 1, tokens: 500 },
      tokens: 500,
    },
    {
      name: 'the reply, whose tokens are known, and 10 bytes behind it',
      messages: [textMessage('assistant', 'x'.repeat(400)), textMessage('user', '0123456789')],
      mark: { epoch: 1, messages: 0, tokens: 500 },
      tokens: 503,
    },
    {
      name: 'an input, without a reply before it',
      messages: [textMessage('user', 'old'), textMessage('user', 'ää')],
      mark: { epoch: 1, messages: 1, tokens: 500 },
      tokens: 501,
    },
    {
      name: 'a picture',
      messages: [{ role: 'user', parts: [IMAGE] }],
      mark: { epoch: 1, messages: 0, tokens: 500 },
      tokens: 1_500,
    },
    {
      name: 'a picture and text of a native result',
      messages: [
        {
          role: 'tool',
          parts: [
            {
              type: 'tool_result',
              callId: '1.1',
              tool: 'search',
              parts: [{ type: 'text', text: '0123' }, IMAGE],
              isError: false,
            },
          ],
        },
      ],
      mark: { epoch: 1, messages: 0, tokens: 500 },
      tokens: 1_501,
    },
  ])('[row 49] adds what is new to the last call: $name', ({ messages, mark, tokens }) => {
    expect(contextTokens(stateWith(messages, mark))).toBe(tokens);
  });

  it.each<{ name: string; mark: ReplyMark | null }>([
    { name: 'no call yet', mark: null },
    { name: 'no call in this epoch', mark: { epoch: 0, messages: 0, tokens: 5 } },
  ])('[row 49] is a fourth of the bytes of the whole request with $name', ({ mark }) => {
    const state = stateWith([textMessage('user', 'x'.repeat(4_000))], mark);
    const options = { runId: 'r', iteration: 1, attempt: 1, lastTurn: false };
    const { messages } = buildRequest(state.head, state.scratchpad[0]?.messages ?? [], options);
    const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(textOf(message)), 0);

    expect(contextTokens(state)).toBe(Math.ceil(bytes / 4));
  });

  it('[row 49] counts the tools that a provider is told of', () => {
    const bare = contextTokens(stateWith([], null, chatSpec({ tools: [] })));

    expect(contextTokens(stateWith([], null, chatSpec()))).toBeGreaterThan(bare);
  });
});
