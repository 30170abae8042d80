import { describe, expect, it } from 'vitest';
import {
  afterTurn,
  boundedRecords,
  limitsOfTurn,
  newConversation,
  totalStats,
  turnOfMessage,
  withEffect,
  withInput,
} from '../../../src/core/conversation/records.ts';
import type { ConversationState, TurnRecord } from '../../../src/core/contract/conversation.ts';
import type { Limit } from '../../../src/core/contract/limit.ts';
import { usageOf } from '../../../src/core/run/step-of.ts';
import type { Stats } from '../../../src/core/contract/stats.ts';

function record(number: number, text = 'hi'): TurnRecord {
  return {
    number,
    messageId: `m${number}`,
    text,
    startedAt: 0,
    seq: 1,
    iteration: 0,
    entries: 0,
    scratchpad: [0, 0, 0],
  };
}

function open(...recent: readonly TurnRecord[]): ConversationState {
  return { ...newConversation('c'), count: recent.length, recent, isOpen: true };
}

function stats(calls: number, ms: number): Stats {
  return {
    counters: { 'agent:model_calls': calls, '$self:agent:model_calls': calls },
    gauges: { 'agent:wall_clock_ms': ms, 'agent:scratchpad_length': calls },
  };
}

function ended(conversation: ConversationState, used: Stats, value: unknown): ConversationState {
  const step = { status: 'success', reason: 'answered', value, usage: usageOf(used), stats: used };
  return afterTurn(conversation, step as never, 9);
}

describe('what a conversation keeps of its turns', () => {
  it('adds up what its turns have used', () => {
    const first = ended(open(record(1)), stats(2, 100), 'yes');
    const second = ended({ ...first, isOpen: true }, stats(3, 50), { a: 1 });

    expect(totalStats({ stats: stats(9, 9), turns: second })).toEqual({
      counters: { 'agent:model_calls': 5, '$self:agent:model_calls': 5 },
      gauges: {
        'agent:wall_clock_ms': 150,
        'agent:active_ms': 0,
        'agent:scratchpad_length': 3,
      },
    });
    const going = totalStats({ stats: stats(9, 9), turns: { ...second, isOpen: true } });
    expect(going.counters['agent:model_calls']).toBe(14);
    expect(totalStats({ stats: stats(9, 9) })).toEqual(stats(9, 9));
  });

  it('notes the end, the messages and the effects of the newest turn only', () => {
    let conversation = open(record(1), record(2));
    conversation = withEffect(withInput(conversation, 'more'), 'mail');
    conversation = ended(conversation, stats(1, 1), 'yes');

    expect(conversation.recent[0]).toEqual(record(1));
    expect(conversation.recent[1]).toMatchObject({
      inputs: ['more'],
      effects: ['mail'],
      status: 'success',
      answer: 'yes',
    });
    expect(turnOfMessage(conversation, 'more')?.number).toBe(2);
    expect(turnOfMessage(conversation, 'm1')?.number).toBe(1);
    expect(turnOfMessage(conversation, 'm3')).toBeUndefined();
    expect(withEffect(conversation, 'mail')).toBe(conversation);
  });

  it('keeps the newest turns that there is room for, and at least one', () => {
    const turns = Array.from({ length: 2_000 }, (_, n) => record(n + 1, 'x'.repeat(500)));
    const kept = boundedRecords(turns);
    expect(kept.at(-1)?.number).toBe(2_000);
    expect(kept.length).toBeGreaterThan(50);
    expect(JSON.stringify(kept).length).toBeLessThan(70_000);
    expect(boundedRecords([record(1, 'x'.repeat(100_000))])).toHaveLength(1);
  });

  it('gives a turn what is left of the limits of the whole', () => {
    const calls = (max: number): Limit => ({ kind: 'exact', key: 'agent:model_calls', max });
    const cost: Limit = { kind: 'exact', key: 'agent:cost_microusd', max: 5 };

    expect(limitsOfTurn([calls(10)], [calls(6), cost], stats(4, 0))).toEqual([calls(2), cost]);
    expect(limitsOfTurn([calls(1)], [calls(6)], stats(4, 0))).toEqual([calls(1)]);
    expect(limitsOfTurn([], [calls(3)], stats(4, 0))).toEqual([calls(0)]);
  });
});
