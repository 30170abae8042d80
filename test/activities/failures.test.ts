import { describe, expect, test } from 'vitest';
import { ApplicationFailureCategory } from '@temporalio/common';
import {
  givenBack,
  toModelFailure,
  transcriptUnavailable,
  workerShutdown,
} from '../../src/activities/failures.ts';
import { noUsage } from '../../src/core/model/usage.ts';
import type { ModelFailure } from '../../src/models/model-failures.ts';

const busy: ModelFailure = {
  code: 'model_error',
  retryable: true,
  status: 429,
  message: 'HTTP 429: Slow down.',
};

describe('toModelFailure [row 53]', () => {
  test('makes a final failure of its code', () => {
    const failure = toModelFailure(
      { code: 'model_auth', retryable: false, status: 401, message: 'HTTP 401: No.' },
      1,
      { model: 'openai/gpt-5' },
    );

    expect(failure).toMatchObject({
      type: 'model_auth',
      message: 'HTTP 401: No.',
      nonRetryable: true,
      details: [{ model: 'openai/gpt-5', status: 401 }],
    });
    expect(failure.nextRetryDelay ?? null).toBeNull();
    expect(failure.category ?? null).toBeNull();
  });

  const waits: {
    name: string;
    failure: Partial<ModelFailure>;
    attempt: number;
    delayMs: number;
  }[] = [
    { name: 'a second first', failure: {}, attempt: 1, delayMs: 1_000 },
    { name: 'twice as long then', failure: {}, attempt: 2, delayMs: 2_000 },
    { name: 'half a minute at most', failure: {}, attempt: 7, delayMs: 30_000 },
    {
      name: 'as long as the provider asks',
      failure: { retryAfterMs: 90_000 },
      attempt: 1,
      delayMs: 90_000,
    },
    {
      name: 'its own time if the provider asks for none',
      failure: { retryAfterMs: 0 },
      attempt: 3,
      delayMs: 4_000,
    },
    {
      name: 'an hour at most',
      failure: { retryAfterMs: 10 ** 12 },
      attempt: 1,
      delayMs: 3_600_000,
    },
  ];

  test.each(waits)('leaves it to the workflow to wait $name', ({ failure, attempt, delayMs }) => {
    const made = toModelFailure({ ...busy, ...failure }, attempt, {});

    expect(made.nextRetryDelay ?? null).toBeNull();
    expect(made.nonRetryable).toBe(true);
    expect(made.details).toEqual([{ status: 429, retryAfterMs: delayMs }]);
  });

  test.each([
    { status: 429, benign: true },
    { status: 529, benign: true },
    { status: 500, benign: false },
  ])('keeps only busy providers out of error metrics: $status', ({ status, benign }) => {
    const failure = toModelFailure({ ...busy, status }, 1, {});

    expect(failure.category === ApplicationFailureCategory.BENIGN).toBe(benign);
  });
});

test('a lost transcript and a stopped worker are tried again', () => {
  expect(transcriptUnavailable('the digest differs')).toMatchObject({
    type: 'transcript_unavailable',
    message: 'The transcript could not be read: the digest differs',
    nonRetryable: false,
  });
  expect(workerShutdown()).toMatchObject({
    type: 'worker_shutdown',
    message: 'The worker stopped during the call.',
    nonRetryable: false,
  });
  const tries = { attempt: 1, losses: 0, givenBack: 0, added: { attempts: 1 } };
  const usage = { ...noUsage, inputTokens: 7 };
  expect(givenBack({ tries, used: () => undefined }, usage)).toMatchObject({
    type: 'worker_shutdown',
    message: 'The worker stopped during the call.',
    nonRetryable: true,
    details: [{ usage, usageKnown: true, attempts: 1, retryAfterMs: 100 }],
  });
});
