import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import { exchangeTurns, newestTurns, type Exchange } from '../../../src/core/run/exchange.ts';
import type { HistoryTurn } from '../../../src/core/contract/input.ts';
import { textMessage } from '../../../src/core/base/message.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { STEP } from '../../cli/cli-fixture.ts';

const EMPTY: Exchange = { task: 'A table', step: STEP, entries: [], events: [] };

function asked(
  iteration: number,
  over: Partial<Extract<AgentEvent, { callId: string }>>,
): AgentEvent {
  const args = { question: 'Where?' };
  const call = { type: 'agent:tool_call:after', tool: 'ask_user', callId: '1.1', outcome: 'ok' };
  return { ...call, iteration, args, output: 'outside', ...over } as unknown as AgentEvent;
}

function entry(iteration: number, origin: Entry['origin'], text: string): Entry {
  return { index: 0, iteration, origin, messages: [textMessage('user', text)] };
}

const user = (text: string): HistoryTurn => ({ role: 'user', text });
const assistant = (text: string): HistoryTurn => ({ role: 'assistant', text });

describe('exchangeTurns', () => {
  it.each<{ name: string; exchange: Exchange; turns: readonly HistoryTurn[] }>([
    {
      name: 'a message and its answer',
      exchange: EMPTY,
      turns: [user('A table'), assistant('Vienna.')],
    },
    { name: 'a turn that goes on', exchange: { ...EMPTY, step: null }, turns: [user('A table')] },
    {
      name: 'an answer that is a value',
      exchange: { ...EMPTY, step: { ...STEP, value: { table: 7 } } },
      turns: [user('A table'), assistant('{"table":7}')],
    },
    {
      name: 'a turn without an answer',
      exchange: {
        ...EMPTY,
        step: { ...STEP, status: 'canceled', reason: 'canceled', value: null },
      },
      turns: [user('A table'), assistant('[No answer: canceled, canceled.]')],
    },
    {
      name: 'inputs, questions and answers in their order, and no other calls',
      exchange: {
        ...EMPTY,
        entries: [entry(1, 'original', 'I look'), entry(3, 'input', 'Hurry')],
        events: [
          asked(1, { tool: 'search' }),
          asked(2, {}),
          asked(2, { outcome: 'error' }),
          asked(4, { args: { question: 'When?' }, output: 8 }),
        ],
      },
      turns: [
        user('A table'),
        assistant('Where?'),
        user('outside'),
        user('Hurry'),
        assistant('When?'),
        user('8'),
        assistant('Vienna.'),
      ],
    },
  ])('tells $name', ({ exchange, turns }) => {
    expect(exchangeTurns(exchange)).toEqual(turns);
  });
});

describe('newestTurns', () => {
  const turns = [user('one'), assistant('eins'), user('two'), assistant('zwö')];

  it.each<{ maxBytes: number; kept: readonly HistoryTurn[] }>([
    { maxBytes: 14, kept: turns },
    { maxBytes: 13, kept: turns.slice(2) },
    { maxBytes: 7, kept: turns.slice(2) },
    { maxBytes: 6, kept: [] },
    { maxBytes: 0, kept: [] },
  ])('keeps whole exchanges within $maxBytes bytes', ({ maxBytes, kept }) => {
    expect(newestTurns(turns, maxBytes)).toEqual(kept);
  });
});
