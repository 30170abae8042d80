import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { ActivityFailure } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { MAX_MODEL_ATTEMPTS } from '../../src/core/contract/attempts.ts';
import {
  lackOf,
  toCheckOutcome,
  toModelOutcome,
  toToolResult,
  WaitAborted,
} from '../../src/workflows/attempts/call-failures.ts';

/** An activity that lost its worker in every attempt that it had. */
function exhausted(): ActivityFailure {
  const lost = new TimeoutFailure('heartbeat', undefined, 'HEARTBEAT');
  return new ActivityFailure('failed', 'callModel', '1', 'MAXIMUM_ATTEMPTS_REACHED', 'w', lost);
}

describe('the attempts of a model call whose workers were all lost', () => {
  it.each([
    { name: 'in its only activity', before: 0 },
    { name: 'in an activity behind others', before: 3 },
  ])('are those that its activity had $name', ({ before }) => {
    const { attempts } = toModelOutcome(exhausted(), before);

    expect(before + attempts).toBe(MAX_MODEL_ATTEMPTS);
  });
});

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
  } as unknown as Parameters<typeof toToolResult>[1];

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
    expect(lackOf(failure)?.what).toBe(what);
  });

  it.each([
    ['tool refund', 'Error: no worker has the tool refund of agent clerk.'],
    ['agent clerk', 'Error: no worker has the agent clerk.'],
  ])('for want of %s is an error of a tool that never began', (what, error) => {
    expect(toToolResult(failedBy('not_here', { what, agent: 'clerk' }), tool)).toEqual({
      outcome: 'error',
      error,
      attempts: 0,
      started: false,
    });
  });

  it('for want of its activity, which workers of another build may not have, never began either', () => {
    expect(toToolResult(failedBy('NotFoundError', {}), tool)).toEqual({
      outcome: 'error',
      error: 'Error: no worker has a newer version of Everloop.',
      attempts: 0,
      started: false,
    });
  });

  it('is canceled, and not unknown, when its wait is aborted', () => {
    expect(toToolResult(new WaitAborted(), tool)).toMatchObject({
      outcome: 'canceled',
      started: false,
    });
    expect(toModelOutcome(new WaitAborted())).toMatchObject({ kind: 'aborted', attempts: 0 });
    expect(toCheckOutcome(new WaitAborted())).toEqual({ kind: 'aborted' });
  });

  it('keeps the code that a model call ends with', () => {
    const refused = failedBy(
      'not_here',
      { what: 'x', code: 'model_auth', attempts: 1 },
      'HTTP 401',
    );

    expect(toModelOutcome(refused)).toMatchObject({
      kind: 'failed',
      code: 'model_auth',
      message: 'HTTP 401',
      attempts: 1,
    });
  });
});
