/** What a run tells those who asked to be called back, and what `onEvent` takes. */
import { describe, expect, it } from 'vitest';
import { CALLBACK_TYPES, type CallbackSpec } from '../../../src/core/contract/callback.ts';
import type { AgentEvent, EventBody } from '../../../src/core/contract/events.ts';
import { callbackOf, callbacksBelow } from '../../../src/core/run/callback-message.ts';
import { STEP } from '../../cli/cli-fixture.ts';
import { callbackProblems, compileCallbacks } from '../../../src/core/start/callback-specs.ts';

const URL = 'https://hooks.example.com/x';
const ALL: CallbackSpec = { url: URL, events: CALLBACK_TYPES };
const PLACE = { run: 'r/1.1', root: 'r' };

function eventOf(body: EventBody): AgentEvent {
  return {
    ...body,
    seq: 4,
    runId: 'x',
    agent: 'clerk',
    agentPath: 'clerk',
    at: 0,
    iteration: 2,
    depth: 0,
  };
}

const COMMON = { ...PLACE, agent: 'clerk', seq: 4, iteration: 2 };

describe('the callback about', () => {
  it.each<{ name: string; body: EventBody; type: string; data: object }>([
    {
      name: 'a question',
      body: { type: 'agent:question:asked', questionId: 'q1', text: 'Who?' },
      type: 'question.asked',
      data: { id: 'q1' },
    },
    {
      name: 'an approval',
      body: {
        type: 'agent:approval:requested',
        callId: '1.2',
        tool: 'pay',
        args: { iban: 'secret' },
      },
      type: 'approval.requested',
      data: { id: '1.2', tool: 'pay' },
    },
    {
      name: 'outside work',
      body: { type: 'agent:external:begun', callId: '1.3', tool: 'build' },
      type: 'external.begun',
      data: { id: '1.3', tool: 'build' },
    },
    {
      name: 'a limit',
      body: {
        type: 'agent:limit_exceeded',
        limit: { kind: 'exact', key: 'agent:iterations', max: 2 },
        key: 'agent:iterations',
        value: 3,
        origin: 'self',
      },
      type: 'limit.reached',
      data: { limit: { key: 'agent:iterations', max: 2 } },
    },
    {
      name: 'the end of a turn',
      body: {
        type: 'agent:turn:after',
        turn: 3,
        step: { ...STEP, value: 'a secret answer', details: { secret: 'x'.repeat(100_000) } },
      },
      type: 'turn.ended',
      data: { turn: 3, status: 'success', reason: 'answered' },
    },
    {
      name: 'the end',
      body: { type: 'agent:execution:after', status: 'success', reason: 'answered' },
      type: 'run.ended',
      data: { status: 'success', reason: 'answered' },
    },
  ])('$name has ids and states, and no content', ({ body, type, data }) => {
    expect(callbackOf(eventOf(body), ALL, PLACE)).toEqual({
      type,
      timestamp: '1970-01-01T00:00:00.000Z',
      data: { ...COMMON, ...data },
    });
  });

  it('a question has its text if that is asked for', () => {
    const event = eventOf({ type: 'agent:question:asked', questionId: 'q1', text: 'Who?' });

    expect(callbackOf(event, { ...ALL, content: true }, PLACE)?.data.question).toBe('Who?');
  });

  it('what nobody asked for is none', () => {
    const event = eventOf({ type: 'agent:question:asked', questionId: 'q1', text: 'Who?' });

    expect(callbackOf(event, { url: URL, events: ['run.ended'] }, PLACE)).toBeNull();
    expect(callbackOf(eventOf({ type: 'agent:waiting' }), ALL, PLACE)).toBeNull();
  });
});

describe('the callbacks of a run', () => {
  it('are those of the definition and of the start, one for each address', () => {
    const specs = compileCallbacks(
      { url: URL, events: ['run.ended'] },
      [{ url: URL, events: ['question.asked'], content: true }, { url: 'http://b/' }],
      undefined,
    );

    expect(specs).toEqual([
      { url: URL, events: ['question.asked', 'run.ended'], content: true },
      { url: 'http://b/', events: CALLBACK_TYPES },
    ]);
  });

  it('are in its children those about what waits', () => {
    expect(callbacksBelow([ALL, { url: 'http://b/', events: ['run.ended'] }])).toEqual([
      { url: URL, events: ['question.asked', 'approval.requested', 'external.begun'] },
    ]);
    expect(callbacksBelow(undefined)).toBeUndefined();
  });

  it.each([
    ['x', 'Expected `onEvent` to be { url, events?, content? }, got "x". Change it.'],
    [
      { url: 'ftp://x' },
      'Expected `onEvent.url` to be an address such as https://example.com/hook, without a user name, got "ftp://x". Change it.',
    ],
    [
      [{ url: 'https://me:pw@x/' }],
      'Expected `onEvent[0].url` to be an address such as https://example.com/hook, without a user name, got "https://me:pw@x/". Change it.',
    ],
    [
      { url: URL, events: ['run.end'] },
      'Expected `onEvent.events` to name types of callbacks (question.asked, approval.requested, external.begun, limit.reached, turn.ended, run.ended), got "run.end". Did you mean `run.ended`?',
    ],
    [
      { url: URL, events: [] },
      "Expected `onEvent.events` to be a list of types such as ['run.ended'], got []. Leave it out for all types.",
    ],
    [{ url: URL, content: 1 }, 'Expected `onEvent.content` to be true or false, got 1. Change it.'],
    [
      { url: URL, event: [] },
      'Expected an option of `onEvent`, got `event`. Did you mean `events`?',
    ],
    [
      Array.from({ length: 5 }, () => ({ url: URL })),
      'Expected at most 4 callbacks in `onEvent`, got 5. Join some.',
    ],
  ])('refuse %j', (input, message) => {
    expect(callbackProblems(input)).toEqual([{ code: 'callback', message }]);
  });
});
