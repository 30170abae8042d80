/** What each failure of an activity means for a call whose attempts the workflow begins. */
import { ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { ActivityFailure } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import type {
  FailedAttempt,
  ModelOutcome,
  UnfailedOutcome,
} from '../../src/core/contract/host-outcome.ts';
import type { ToolSpec } from '../../src/core/contract/spec.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import { MAX_MODEL_ATTEMPTS, lossPauseMs } from '../../src/core/attempt/attempts.ts';
import {
  afterModelFailure,
  modelEnd,
  NO_MODEL_TRIED,
  type ModelPolicy,
  type TriedModel,
} from '../../src/core/attempt/model-attempts.ts';
import type { NextAttempt, Tried } from '../../src/core/attempt/table.ts';
import { afterJudgeFailure, afterToolFailure } from '../../src/core/attempt/tool-attempts.ts';
import { attemptOptions } from '../../src/workflows/attempts/activity-options.ts';
import { failureOf, WaitAborted } from '../../src/workflows/attempts/read-failure.ts';
import { labelOf } from '../../src/workflows/attempts/try-again.ts';

type State = ActivityFailure['retryState'];

function failed(cause: Error, state: State = 'MAXIMUM_ATTEMPTS_REACHED'): ActivityFailure {
  return new ActivityFailure('failed', 'call', '1', state, 'w', cause);
}

const silent = (details?: object): ActivityFailure =>
  failed(new TimeoutFailure('lost', details, 'HEARTBEAT'));
const stalled = (details?: object): ActivityFailure =>
  failed(new TimeoutFailure('late', details, 'START_TO_CLOSE'));
const said = (type: string, details: object = {}, nonRetryable = false): ActivityFailure =>
  failed(ApplicationFailure.create({ type, message: type, nonRetryable, details: [details] }));
const shutdown = (): ActivityFailure => said('worker_shutdown');
const canceled = (details: unknown[] = []): ActivityFailure =>
  failed(new CancelledFailure('canceled', details), 'CANCEL_REQUESTED');

const NOTHING = { attempts: 0, losses: 0, givenBack: 0 };

function toolOf(effect: ToolSpec['effect']): ToolSpec {
  const retry = { attempts: 3, initialMs: 1_000, factor: 2 };
  return { name: 'pay', effect, timeoutMs: 1_000, retry } as ToolSpec;
}

/** What is compared of a decision: that of a call that ends, or when and after what it goes on. */
function shown<Outcome>(decision: NextAttempt<Outcome>): unknown {
  if (decision.kind === 'end') return decision.outcome;
  if (decision.kind === 'elsewhere') return decision;
  if (decision.kind === 'operator') return { ...decision.tried, operator: true };
  const { attempts, losses, givenBack } = decision.tried;
  return {
    attempts,
    losses,
    inMs: decision.inMs,
    ...(givenBack === 0 ? {} : { givenBack }),
  };
}

const failedTool = (
  error: unknown,
  tried: Tried,
  tool: ToolSpec,
): ReturnType<typeof afterToolFailure> => afterToolFailure(tool, tried, failureOf(error));
const failedJudgement = (error: unknown, tried: Tried): ReturnType<typeof afterJudgeFailure> =>
  afterJudgeFailure(tried, failureOf(error));

/** A model call whose attempts end by errors, one after the other. */
function modelCall(policy: Partial<ModelPolicy> = {}) {
  let tried: TriedModel = NO_MODEL_TRIED;
  const whole = { mayRetry: () => true, ...policy };
  const onFailure = (error: unknown): NextAttempt<ModelOutcome, TriedModel> => {
    const next = afterModelFailure(whole, tried, failureOf(error), 0);
    if (next.kind === 'again') tried = next.tried;
    return next;
  };
  const onResult = (result: UnfailedOutcome): ModelOutcome => modelEnd(tried, result);
  return { onFailure, onResult };
}

describe('[R1] pauses after losses', () => {
  it('are begun by the workflow five times, then by the service', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 20].map(lossPauseMs)).toEqual([
      100, 1_000, 2_000, 4_000, 8_000, 30_000, 60_000, 600_000,
    ]);
    expect(attemptOptions({}, 4, 'loss').retry).toEqual({ maximumAttempts: 1 });
    const late = { initialInterval: 30_000, backoffCoefficient: 2, maximumInterval: 600_000 };
    expect(attemptOptions({}, 5, 'loss').retry).toEqual({
      ...late,
      nonRetryableErrorTypes: ['NotFoundError'],
    });
    expect(attemptOptions({}, 5, 'failure').retry).toEqual({
      ...late,
      nonRetryableErrorTypes: ['NotFoundError', 'TemporalTimeout:StartToClose'],
    });
  });
});

describe('[R3] a tool call', () => {
  it.each([
    ['silent', silent(), 'read', {}],
    ['silent', silent({ attempts: 1 }), 'idempotent', {}],
    ['stalled', stalled(), 'idempotent', {}],
    ['stopped in order', shutdown(), 'idempotent', { givenBack: 1 }],
    ['silent before it began', silent({ attempts: 1 }), 'once', {}],
    ['stopped in order before it began', shutdown(), 'once', { givenBack: 1 }],
  ] as const)('whose worker was %s has used no attempt: %#', (_name, error, effect, more) => {
    const tool = toolOf(effect);
    const late = { ...NOTHING, attempts: 2, losses: 9 };

    expect(shown(failedTool(error, NOTHING, tool))).toEqual({
      attempts: 0,
      losses: 1,
      inMs: 100,
      ...more,
    });
    expect(shown(failedTool(error, late, tool))).toEqual({
      attempts: 2,
      losses: 10,
      inMs: 480_000,
      ...more,
    });
  });

  it.each([
    ['silent after it began', silent({ attempts: 1, began: true })],
    ['stalled', stalled()],
    ['unreadable', new Error('no result')],
  ])('that is `once` is unknown when its worker was %s', (_name, error) => {
    expect(shown(failedTool(error, NOTHING, toolOf('once')))).toMatchObject({
      outcome: 'unknown',
      attempts: 1,
      started: true,
    });
  });

  it('that failed is tried as often as the tool says, whatever was lost', () => {
    const fail = (attempts: number): unknown =>
      shown(failedTool(said('tool_failed'), { ...NOTHING, attempts, losses: 4 }, toolOf('read')));

    expect(fail(0)).toEqual({ attempts: 1, losses: 4, inMs: 1_000 });
    expect(fail(1)).toEqual({ attempts: 2, losses: 4, inMs: 2_000 });
    expect(fail(2)).toEqual({
      outcome: 'error',
      error: 'Error: tool_failed',
      attempts: 3,
      started: true,
      losses: 4,
    });
  });

  it('counts what the service lost before the failure', () => {
    const error = said('tool_failed', { losses: 2, givenBack: 1 }, true);
    const before = { ...NOTHING, losses: 5, givenBack: 3 };

    expect(shown(failedTool(error, before, toolOf('read')))).toEqual({
      attempts: 1,
      losses: 7,
      givenBack: 4,
      inMs: 1_000,
    });
  });

  const NOT_STARTED = canceled(['ACTIVITY_ID_NOT_STARTED']);
  it.each([
    ['read', NOT_STARTED, 0, 'canceled', false],
    ['read', NOT_STARTED, 2, 'canceled', true],
    ['idempotent', NOT_STARTED, 0, 'canceled', false],
    ['idempotent', canceled(), 0, 'canceled', true],
    ['idempotent', new WaitAborted(), 1, 'unknown', true],
    ['idempotent', NOT_STARTED, 6, 'unknown', true],
    ['once', new WaitAborted(), 3, 'canceled', false],
    ['once', NOT_STARTED, 1, 'canceled', false],
    ['once', NOT_STARTED, 5, 'unknown', true],
    ['once', canceled(), 0, 'unknown', true],
  ] as const)(
    'that is %s and stopped is what it may have done: %#',
    (effect, error, losses, outcome, started) => {
      const end = shown(failedTool(error, { ...NOTHING, losses }, toolOf(effect)));

      expect(end).toMatchObject({ outcome, started });
    },
  );
});

describe('a judgement', () => {
  it('is tried three times, whatever was lost', () => {
    expect(shown(failedJudgement(silent(), NOTHING))).toEqual({
      attempts: 0,
      losses: 1,
      inMs: 100,
    });
    const throwing = (attempts: number): unknown =>
      shown(failedJudgement(said('validator_failed'), { ...NOTHING, attempts, losses: 3 }));
    expect(throwing(1)).toEqual({ attempts: 2, losses: 3, inMs: 2_000 });
    expect(throwing(2)).toEqual({ kind: 'failed', message: 'validator_failed' });
    expect(shown(failedJudgement(canceled(), NOTHING))).toEqual({ kind: 'aborted' });
  });
});

describe('[R1] [R12] a model call', () => {
  const spent = { ...noUsage, inputTokens: 7 };
  const cost = { usage: spent, usageKnown: true, attempts: 1 };
  const free = { usage: noUsage, usageKnown: false, attempts: 1 };
  const down = (details: object = {}): ActivityFailure =>
    said('model_error', { ...free, status: 503, retryAfterMs: 1_000, ...details });

  interface Scene {
    readonly events: readonly FailedAttempt[];
    readonly fail: (error: unknown) => unknown;
  }
  function scene(policy: Partial<ModelPolicy> = {}): Scene {
    const events: FailedAttempt[] = [];
    const { onFailure } = modelCall({ onFailedAttempt: (one) => events.push(one), ...policy });
    return { events, fail: (error) => shown(onFailure(error)) };
  }

  it('loses workers without an end, and its provider still has eight attempts', () => {
    const { fail, events } = scene({ hasFallback: false });
    for (let losses = 1; losses <= 20; losses++) {
      expect(fail(silent({ attempts: 9 }))).toMatchObject({ attempts: 0, losses });
    }
    for (let attempts = 1; attempts < MAX_MODEL_ATTEMPTS; attempts++) {
      expect(fail(down())).toEqual({ attempts, losses: 20, inMs: 1_000 });
    }

    expect(fail(down())).toMatchObject({
      kind: 'failed',
      code: 'model_error',
      status: 503,
      attempts: 8,
      losses: 20,
    });
    expect(events.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('[R1] has used an attempt of its provider when its deadline is over, whatever was lost', () => {
    const { fail } = scene();

    expect(fail(silent())).toMatchObject({ attempts: 0, losses: 1 });
    expect(fail(stalled({ attempts: 1, losses: 3 }))).toEqual({
      attempts: 1,
      losses: 4,
      inMs: 1_000,
    });
  });

  it('is followed by the fallback after two failures, or when the wait is over 10 s', () => {
    const { fail } = scene({ hasFallback: true });
    expect(fail(silent())).toMatchObject({ losses: 1 });
    expect(fail(down({ retryAfterMs: 10_000 }))).toMatchObject({ attempts: 1, inMs: 10_000 });
    expect(fail(down())).toMatchObject({ kind: 'failed', attempts: 2, losses: 1 });

    expect(scene({ hasFallback: true }).fail(down({ retryAfterMs: 10_001 }))).toMatchObject({
      kind: 'failed',
      attempts: 1,
    });
    expect(scene().fail(down({ retryAfterMs: 3_600_000 }))).toMatchObject({ inMs: 3_600_000 });
  });

  it('keeps what lost and failed attempts cost, and asks before it goes on', () => {
    const asked: number[] = [];
    const mayRetry: ModelPolicy['mayRetry'] = ({ usage }) => {
      asked.push(usage.inputTokens);
      return usage.inputTokens < 20;
    };
    const { fail } = scene({ mayRetry });
    expect(fail(said('worker_shutdown', { ...cost, retryAfterMs: 100 }, true))).toMatchObject({
      attempts: 0,
      losses: 1,
    });
    expect(fail(down())).toMatchObject({ attempts: 1 });
    expect(fail(down(cost))).toMatchObject({ attempts: 2 });
    expect(fail(down(cost))).toMatchObject({
      kind: 'failed',
      attempts: 3,
      usage: { inputTokens: 21 },
    });

    expect(asked).toEqual([7, 14, 21]);
  });

  it('does not ask about an attempt that is the last in any case', () => {
    const mayRetry = (): boolean => {
      throw new Error('asked');
    };
    const { fail } = scene({ mayRetry });

    expect(fail(said('context_too_long', cost, true))).toMatchObject({ kind: 'failed' });
  });

  it('takes a worker without the release for what it says, and is not repeated when it is final', () => {
    expect(scene().fail(said('model_error'))).toMatchObject({ attempts: 1, inMs: 1_000 });
    expect(scene().fail(said('model_auth', free, true))).toMatchObject({ code: 'model_auth' });
    expect(scene().fail(stalled())).toMatchObject({ attempts: 1, inMs: 1_000 });
    expect(scene().fail(canceled())).toMatchObject({ kind: 'aborted' });
  });

  describe('reads beside the reply of a model call', () => {
    const read = { index: 1, tool: 'look', args: {}, durationMs: 3 } as const;
    const ended = { ...read, result: { outcome: 'ok', attempts: 1, started: true } } as const;
    const kept = {
      kind: 'reply',
      reply: { parts: [], finishReason: 'tool_calls', usage: noUsage },
      attempts: 1,
      reads: [ended],
    };

    it('leave the reply in the last heartbeat, which a lost worker does not lose', () => {
      expect(scene().fail(silent({ attempts: 1, kept }))).toEqual(kept);
    });

    it('add what earlier attempts cost to that reply', () => {
      const { fail } = scene();
      fail(down({ ...cost, lostReads: [ended] }));
      expect(fail(silent({ attempts: 1, kept }))).toMatchObject({
        kind: 'reply',
        attempts: 2,
        reply: { usage: { inputTokens: 7 } },
        reads: [ended],
        lostReads: [ended],
      });
    });

    it('are kept of each attempt whose reply was thrown away', () => {
      const { fail } = scene({ hasFallback: true });
      fail(said('worker_shutdown', { lostReads: [ended] }));
      fail(down({ lostReads: [{ ...ended, index: 2 }] }));
      expect(fail(down())).toMatchObject({
        kind: 'failed',
        lostReads: [{ index: 1 }, { index: 2 }],
      });
    });
  });
});

describe('[R8] what a model call lost', () => {
  const prompt = { totalTokens: 50, costMicroUsd: 5 };
  const asked = { totalTokens: 60, costMicroUsd: 6 };
  const overloaded = said('model_error', { usage: noUsage, usageKnown: false, attempts: 1 });

  /** The estimate when a call has failed by these, then succeeds. */
  function estimateAfter(
    errors: readonly unknown[],
    more: Partial<UnfailedOutcome> = {},
  ): ModelOutcome['estimated'] {
    const call = modelCall({ promptEstimate: () => prompt });
    for (const error of errors) call.onFailure(error);
    const reply = { parts: [], finishReason: 'stop', usage: noUsage } as const;
    const result = {
      kind: 'reply',
      attempts: 1,
      reply: { ...reply, usageKnown: true, model: 'm' },
      ...more,
    };
    return call.onResult(result as never).estimated;
  }

  it.each([
    ['its prompt, when it died before a heartbeat', [silent()], prompt],
    ['what its heartbeat says', [silent({ attempts: 1, asked })], asked],
    [
      'its prompt, when it died before the heartbeat after that at entry',
      [silent({ attempts: 1, isEntry: true })],
      prompt,
    ],
    [
      'nothing, when its heartbeat says that it had not asked',
      [silent({ attempts: 1 })],
      undefined,
    ],
    ['what a worker says that stops', [said('worker_shutdown', { estimated: asked })], asked],
    ['nothing, when a worker that stops had not asked', [shutdown()], undefined],
    ['nothing, when it was not begun', [said('transcript_unavailable')], undefined],
    ['nothing, when the attempt failed by itself', [overloaded, overloaded], undefined],
    ['nothing, when the time of its attempt was over in silence', [stalled()], undefined],
    ['what its heartbeat says, when its time was over', [stalled({ asked })], asked],
    [
      'also what the service lost before that time',
      [stalled({ asked, lost: prompt })],
      { totalTokens: 110, costMicroUsd: 11 },
    ],
    [
      'the sum of all that died',
      [
        silent(),
        overloaded,
        silent({ attempts: 1, asked }),
        said('model_error', { estimated: asked }),
      ],
      { totalTokens: 170, costMicroUsd: 17 },
    ],
  ])('is %s', (_name, errors, estimated) => {
    expect(estimateAfter(errors)).toEqual(estimated);
  });

  it.each([
    ['nothing', [silent({ attempts: 1, asked })], 1, undefined],
    ['nothing, after two losses', [silent(), silent({ attempts: 1 })], 2, undefined],
    ['what was lost before', [silent(), silent({ attempts: 1, asked })], 1, prompt],
  ])('is %s, when its call was taken over', (_name, errors, takenOver, estimated) => {
    expect(estimateAfter(errors, { takenOver })).toEqual(estimated);
  });

  it('is asked about before another attempt, as a cost is', () => {
    const seen: unknown[] = [];
    const call = modelCall({
      mayRetry: ({ estimated }) => {
        seen.push(estimated?.totalTokens);
        return (estimated?.totalTokens ?? 0) < 100;
      },
      promptEstimate: () => prompt,
    });

    expect(call.onFailure(silent())).toMatchObject({ kind: 'again' });
    expect(call.onFailure(overloaded)).toMatchObject({ kind: 'again' });
    expect(call.onFailure(silent())).toMatchObject({
      kind: 'end',
      outcome: { kind: 'failed', losses: 2, estimated: { totalTokens: 100 } },
    });
    expect(seen).toEqual([50, 100]);
  });
});

describe('the words for a call in the status', () => {
  const at = Date.parse('2026-03-10T09:00:12Z');
  it.each([
    [{ tried: { attempts: 0, losses: 1 } }, 'model m (lost 1 worker)'],
    [{ tried: { attempts: 0, losses: 5 } }, 'model m (lost 5 or more workers)'],
    [
      { tried: { attempts: 2, losses: 3 }, failure: { message: 'HTTP 503: no', of: 8 } },
      'model m (lost 3 workers, attempt 3 of 8 at 2026-03-10T09:00:12.000Z: HTTP 503: no)',
    ],
  ])('say what was tried: %#', (after, text) => {
    expect(labelOf('model m', after, at)).toBe(text);
  });

  it('say which attempt runs', () => {
    const after = { tried: { attempts: 2, losses: 0 }, failure: { message: 'no', of: 8 } };

    expect(labelOf('model m', after)).toBe('model m (attempt 3 of 8: no)');
  });
});
