import { TimeoutFailure } from '@temporalio/common';
import { ActivityFailure } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { MAX_MODEL_ATTEMPTS } from '../../src/core/contract/attempts.ts';
import { toModelOutcome } from '../../src/workflows/call-failures.ts';

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
