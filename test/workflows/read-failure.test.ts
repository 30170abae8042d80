import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { ActivityFailure } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { LEFT } from '../../src/core/attempt/failure.ts';
import { afterModelFailure, NO_MODEL_TRIED } from '../../src/core/attempt/model-attempts.ts';
import { NOTHING_TRIED } from '../../src/core/attempt/table.ts';
import { afterToolFailure } from '../../src/core/attempt/tool-attempts.ts';
import { failureOf, WaitAborted } from '../../src/workflows/attempts/read-failure.ts';

/** An activity that lost its worker in every attempt that it had. */
function exhausted(): ActivityFailure {
  const lost = new TimeoutFailure('heartbeat', undefined, 'HEARTBEAT');
  return new ActivityFailure('failed', 'callModel', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'w', lost);
}

/** An activity on a worker that lacked something. */
function failedBy(type: string, details: object, message = 'not here'): ActivityFailure {
  const cause = ApplicationFailure.create({ type, message, details: [details] });
  return new ActivityFailure('failed', 'callTool', '1', 'NON_RETRYABLE_FAILURE', 'w', cause);
}

describe('[R4] a call that no worker could begin', () => {
  const tool = {
    name: 'refund',
    effect: 'once',
    timeoutMs: 1_000,
    retry: { attempts: 1, initialMs: 1, factor: 1 },
  } as unknown as Parameters<typeof afterToolFailure>[0];

  it.each([
    [failedBy('not_here', { what: 'tool refund', agent: 'clerk' }), 'tool refund'],
    [failedBy('NotFoundError', {}), 'a newer version of Everloop'],
    [failedBy('blob_missing', {}), 'the blobs of the run'],
    [failedBy('blob_damaged', {}), 'the blobs of the run'],
    [failedBy('blob_unreadable', {}), 'the blobs of the run'],
    [failedBy('ExternalStorageNotConfiguredError', {}), 'the blobs of the run'],
    // The tool ran.
    [failedBy('blob_store_failed', {}), undefined],
    [failedBy('tool_failed', {}), undefined],
    [exhausted(), undefined],
  ])('is known by its failure: %#', (failure, what) => {
    expect(failureOf(failure).lack?.what).toBe(what);
  });

  /** How a call ends whose wait for another worker is over. */
  const ended = (error: unknown): unknown => {
    const failure = failureOf(error);
    expect(afterToolFailure(tool, NOTHING_TRIED, failure)).toEqual({ kind: 'elsewhere' });
    const end = afterToolFailure(tool, NOTHING_TRIED, { ...failure, kind: 'nowhere' });
    return end.kind === 'end' ? end.outcome : end;
  };

  it.each([
    ['tool refund', 'Error: no worker has the tool refund of agent clerk.'],
    ['agent clerk', 'Error: no worker has the agent clerk.'],
  ])('for want of %s is an error of a tool that never began', (what, error) => {
    expect(ended(failedBy('not_here', { what, agent: 'clerk' }))).toEqual({
      outcome: 'error',
      error,
      attempts: 0,
      started: false,
    });
  });

  it('for want of its activity, which workers of another build may not have, never began either', () => {
    expect(ended(failedBy('NotFoundError', {}))).toEqual({
      outcome: 'error',
      error: 'Error: no worker has a newer version of Everloop.',
      attempts: 0,
      started: false,
    });
  });

  it('is canceled, and not unknown, when its wait is aborted', () => {
    const failure = failureOf(new WaitAborted());

    expect(failure).toBe(LEFT);
    expect(afterToolFailure(tool, NOTHING_TRIED, failure)).toMatchObject({
      outcome: { outcome: 'canceled', started: false },
    });
    expect(afterModelFailure(POLICY, NO_MODEL_TRIED, failure, 0)).toMatchObject({
      outcome: { kind: 'aborted', attempts: 0 },
    });
  });

  it('keeps the code that a model call ends with', () => {
    const details = { what: 'x', code: 'model_auth', attempts: 1 };
    const refused = failureOf(failedBy('not_here', details, 'HTTP 401'));
    const end = afterModelFailure(POLICY, NO_MODEL_TRIED, { ...refused, kind: 'nowhere' }, 0);

    expect(end).toMatchObject({
      outcome: { kind: 'failed', code: 'model_auth', message: 'HTTP 401', attempts: 1 },
    });
  });
});

const POLICY = { mayRetry: () => true };
