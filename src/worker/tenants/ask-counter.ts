/** How a worker asks the counters of model entries. */
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { AskCounter } from '../../activities/rates.ts';
import {
  RATE_MESSAGES,
  RATE_WORKFLOW,
  type LeaseAnswerOfRate,
  type LeaseOrder,
} from '../../core/rate/rate.ts';

/** How long a counter has to answer: its moments must not pass meanwhile. */
const ANSWER_WITHIN_MS = 10_000;

/** Asks counters through `client`; one that is not there is started on `taskQueue`. */
export function createAskCounter(client: Client, taskQueue: string): AskCounter {
  return (workflowId, order) => {
    const startWorkflowOperation = new WithStartWorkflowOperation(RATE_WORKFLOW, {
      workflowId,
      taskQueue,
      args: [{ v: 1 }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.executeUpdateWithStart<Workflow, LeaseAnswerOfRate, [LeaseOrder]>(
        RATE_MESSAGES.lease,
        { args: [order], startWorkflowOperation },
      ),
    );
  };
}
