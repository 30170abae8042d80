/**
 * The workflow that counts the requests of a model entry over all workers, and gives them permits. It
 * only answers: what it decides is in `core/rate/counter.ts`. It never ends by itself, and costs nothing while no worker
 * asks.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { isPlainObject } from '../../core/base/json.ts';
import { ownWorkflowName } from './own-workflow.ts';
import {
  RATE_MESSAGES,
  readLeaseOrder,
  type LeaseAnswerOfRate,
  type LeaseOrder,
} from '../../core/rate/rate.ts';
import { leased, leasedPermits, NEW_COUNTER, type RateCounter } from '../../core/rate/counter.ts';
import { recorded } from '../recorded/recorded.ts';

/** Leases after which the counter continues as new: each takes at most seven events. */
const MAX_LEASES = 600;

/** Counts for a model entry; continues as new and never returns. */
export async function rate(start: unknown): Promise<void> {
  ownWorkflowName('counter');
  const { continuedFromExecutionRunId, startTime } = workflowInfo();
  const isContinued = continuedFromExecutionRunId !== undefined;
  const isFirst = !isContinued && isPlainObject(start) && start['isFirst'] === true;
  const mayLackSince = isFirst ? undefined : startTime.getTime();
  const given = isPlainObject(start) ? start['counter'] : undefined;
  let counter: RateCounter =
    isContinued && isPlainObject(given) ? (given as unknown as RateCounter) : NEW_COUNTER;
  let leases = 0;
  setHandler(
    defineUpdate<LeaseAnswerOfRate, [LeaseOrder]>(RATE_MESSAGES.lease),
    async (order) => {
      const { readClock, now: clock } = recorded();
      await readClock();
      leases += 1;
      const now = clock();
      const { answer, counter: next } =
        order.permits === undefined
          ? leased(counter, order, now)
          : leasedPermits(counter, order.permits, { now, mayLackSince });
      counter = next;
      return answer;
    },
    {
      validator: (order) => {
        if (readLeaseOrder(order) !== null) return;
        const message = 'Expected an order of moments or permits for requests, got something else.';
        throw ApplicationFailure.create({ type: 'invalid_input', message, nonRetryable: true });
      },
    },
  );
  setHandler(defineQuery<RateCounter>(RATE_MESSAGES.view), () => counter);
  await condition(() => leases >= MAX_LEASES || recorded().has('suggested'));
  await condition(allHandlersFinished);
  await continueAsNew<typeof rate>({ v: 1, counter });
}

// As the ledger of a tenant: it lives for years.
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, rate);
