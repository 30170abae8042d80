import { Context } from '@temporalio/activity';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it } from 'vitest';
import type { UnfailedOutcome } from '../../src/core/contract/host-outcome.ts';
import { createGivenUpCalls } from '../../src/activities/given-up-calls.ts';
import { takenOrRun } from '../../src/activities/take-over.ts';
import { triesOf } from '../../src/activities/tries.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { noUsage } from '../../src/core/model/usage.ts';

const ESTIMATE = { totalTokens: 90, costMicroUsd: 8 };

const ORDER: ModelOrder = {
  agent: 'tester',
  runId: 'run',
  agentPath: 'tester',
  seq: 7,
  model: 'm',
  purpose: 'reply',
  iteration: 1,
  triesBefore: 0,
  attemptsBefore: 0,
  lossesBefore: 0,
  lastTurn: false,
  time: 0,
  transcript: { epoch: 1, length: 0, digest: '' },
};

/** A call that ends only when it is aborted, and a second attempt that has taken it over. */
async function takenCall() {
  const calls = createGivenUpCalls();
  let begun = 0;
  const run = (env: MockActivityEnvironment, order: ModelOrder): Promise<UnfailedOutcome> =>
    env.run(() => {
      const { cancellationSignal } = Context.current();
      const attempt = {
        order,
        tries: triesOf(order),
        signal: cancellationSignal,
        beat: () => undefined,
      };
      return takenOrRun(calls, attempt, ({ signal }) => {
        begun += 1;
        return new Promise((resolve) => {
          const aborted = { kind: 'aborted', usage: noUsage, usageKnown: false } as const;
          signal.addEventListener('abort', () =>
            resolve({ ...aborted, estimated: ESTIMATE, attempts: 1 }),
          );
        });
      });
    });
  const environment = (): MockActivityEnvironment =>
    new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const first = environment();
  const lost = run(first, ORDER);
  first.cancel('NOT_FOUND', new ActivityCancellationDetails({ notFound: true }));
  const second = environment();
  const taken = run(second, { ...ORDER, lossesBefore: 1 });
  return { second, lost, taken, begun: () => begun };
}

it('a call that was taken over is given back by the attempt whose worker stops', async () => {
  const { second, taken, lost, begun } = await takenCall();
  const details = new ActivityCancellationDetails({ workerShutdown: true });
  second.cancel('WORKER_SHUTDOWN', details);

  await expect(taken).rejects.toMatchObject({ type: 'worker_shutdown', nonRetryable: false });
  expect(await lost).toMatchObject({ kind: 'aborted' });
  expect(begun()).toBe(1);
});

it('a call that was taken over and is canceled says what it used, once', async () => {
  const { second, taken } = await takenCall();
  second.cancel();

  expect(await taken).toMatchObject({ kind: 'aborted', estimated: ESTIMATE, takenOver: 1 });
});
