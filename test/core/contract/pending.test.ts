import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptAnswer, EMPTY_INBOX, isAnsweredBy, openWaits } from '../../../src/core/run/inbox.ts';
import type {
  ApprovalItem,
  ExternalItem,
  QuestionItem,
} from '../../../src/core/contract/pending.ts';
import { checkAnswer, checkDecision } from '../../../src/core/people/check-answer.ts';
import { activeMs } from '../../../src/core/run/idle-state.ts';
import type { Json } from '../../../src/core/base/json.ts';

const QUESTION: QuestionItem = {
  kind: 'question',
  id: 'q1',
  callId: '1.1',
  since: 0,
  question: 'Which?',
  options: ['1', '2', 'Blue'],
  free: false,
};
const APPROVAL: ApprovalItem = {
  kind: 'approval',
  id: '1.2',
  callId: '1.2',
  since: 0,
  tool: 'pay',
  args: {},
};
const EXTERNAL: ExternalItem = {
  kind: 'external',
  id: '1.3',
  callId: '1.3',
  since: 0,
  tool: 'build',
  args: {},
  begun: { outcome: 'ok', attempts: 1, started: true },
};
const WAITS = {
  pending: [QUESTION, APPROVAL, EXTERNAL],
  settled: [{ id: 'q0', kind: 'question' }],
} as const;

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe('an answer', () => {
  it.each<{ name: string; id: unknown; value: unknown; says: string; code?: string }>([
    {
      name: 'a settled question',
      id: 'q0',
      value: 'x',
      code: 'item_settled',
      says: 'question q0 is already answered',
    },
    {
      name: 'an unknown id',
      id: 'q7',
      value: 'x',
      code: 'item_unknown',
      says: 'nothing waits for an answer under the id `q7`, got q1, 1.3 to choose from',
    },
    {
      name: 'an id that is no text',
      id: 7,
      value: 'x',
      code: 'item_unknown',
      says: 'nothing waits for an answer under the id number, got q1, 1.3 to choose from',
    },
    {
      name: 'an approval',
      id: '1.2',
      value: 'x',
      says: 'approval 1.2 takes a decision, no answer',
    },
    { name: 'no option', id: 'q1', value: '4', says: 'answer one of: 1 1, 2 2, 3 Blue' },
    { name: 'an object', id: 'q1', value: {}, says: 'answer one of: 1 1, 2 2, 3 Blue' },
    {
      name: 'nothing',
      id: '1.3',
      value: undefined,
      says: 'answer with JSON of at most 200 levels',
    },
    {
      name: 'a function',
      id: '1.3',
      value: () => 1,
      says: 'answer with JSON of at most 200 levels',
    },
    {
      name: 'deep data',
      id: '1.3',
      value: deep(300),
      says: 'answer with JSON of at most 200 levels',
    },
    {
      name: 'large data',
      id: '1.3',
      value: 'x'.repeat(262_143),
      says: 'the answer has 262145 bytes, at most 262144 are allowed',
    },
  ])('is refused for $name [sub 17]', ({ id, value, says, code = 'invalid_input' }) => {
    expect(checkAnswer(WAITS, id, value)).toEqual({ kind: 'refused', code, message: says });
  });

  it('takes a label for what it says before it takes it for a number [sub 17]', () => {
    const waits = { pending: [{ ...QUESTION, options: ['2', '1'] }] };

    expect(checkAnswer(waits, 'q1', '2')).toMatchObject({ body: { value: '2' } });
    expect(checkAnswer(waits, 'q1', ' BLUE')).toMatchObject({ kind: 'refused' });
    expect(checkAnswer(WAITS, 'q1', ' BLUE')).toMatchObject({ body: { value: 'Blue' } });
    expect(checkAnswer(WAITS, 'q1', 3)).toMatchObject({ body: { value: 'Blue' } });
  });

  it('never throws, and what it lets through is an option [sub 17]', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (id, value) => {
        checkAnswer(WAITS, id, value);
        checkDecision(WAITS, id, value);
        checkDecision(WAITS, '1.2', value);
        const checked = checkAnswer(WAITS, 'q1', value);
        return (
          checked.kind === 'refused' ||
          (checked.body.kind === 'answer' &&
            (QUESTION.options as readonly unknown[]).includes(checked.body.value))
        );
      }),
    );
  });
});

describe('the inbox', () => {
  it('takes an answer once, and hides what has one [sub 17]', () => {
    const answer = { kind: 'answer', id: 'q1', updateId: 'u', value: 'Blue' } as const;

    const once = acceptAnswer(EMPTY_INBOX, answer);
    const twice = acceptAnswer(once, { ...answer, value: '1' });

    expect(twice).toBe(once);
    expect(isAnsweredBy(once, 'u')).toBe(true);
    const open = openWaits(WAITS, once);
    expect(open.pending).toEqual([APPROVAL, EXTERNAL]);
    expect(checkAnswer(open, 'q1', 1)).toEqual({
      kind: 'refused',
      code: 'item_settled',
      message: 'question q1 is already answered',
    });
  });

  it('keeps what comes before its call waits, once, and for calls in progress alone', () => {
    const waits = { ...WAITS, begun: ['2.1'] };
    const early = checkAnswer(waits, '2.1', { passed: 1 });
    expect(early).toEqual({
      kind: 'fits',
      isEarly: true,
      body: { kind: 'answer', value: { passed: 1 } },
    });
    expect(checkAnswer(waits, '2.2', 1)).toMatchObject({ code: 'item_unknown' });
    expect(checkAnswer(waits, '2.1', 'x'.repeat(262_143))).toMatchObject({ code: 'invalid_input' });
    expect(checkDecision(waits, '2.1', { approve: true })).toMatchObject({ code: 'item_unknown' });

    const answer = { kind: 'answer', id: '2.1', updateId: 'u', value: 1, early: 5 } as const;
    const open = openWaits(waits, acceptAnswer(EMPTY_INBOX, answer));
    expect(checkAnswer({ ...open, begun: ['2.1'] }, '2.1', 2)).toEqual({
      kind: 'refused',
      code: 'item_settled',
      message: 'external 2.1 is already answered',
    });
  });
});

describe('active time', () => {
  it.each([
    { name: 'runs', state: {}, active: 100 },
    { name: 'stands still in a pause', state: { pausedAt: 60 }, active: 60 },
    { name: 'stands still in a wait', state: { waitingSince: 70 }, active: 70 },
    { name: 'stands still once in both', state: { pausedAt: 60, waitingSince: 70 }, active: 60 },
    { name: 'leaves out what is over', state: { waitingSince: 70, idleMs: 20 }, active: 50 },
  ])('$name [row 38]', ({ state, active }) => {
    expect(activeMs({ startedAt: 0, pausedAt: null, idleMs: 0, ...state }, 100)).toBe(active);
  });
});
