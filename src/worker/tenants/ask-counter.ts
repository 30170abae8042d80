/** How a worker asks the counters of model entries. */
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import {
  RATE_MESSAGES,
  RATE_WORKFLOW,
  type AskCounter,
  type LeaseAnswerOfRate,
  type LeaseOrder,
} from '../../core/rate/rate.ts';

/** How long a counter has to answer: its moments must not pass meanwhile. */
const ANSWER_WITHIN_MS = 10_000;

/** Asks counters through `client`; one that is not there is started on `taskQueue`. */
export function createAskCounter(client: Client, taskQueue: string): AskCounter {
  const ask = (
    workflowId: string,
    order: LeaseOrder,
    start: Pick<WorkflowStartOptions, 'args' | 'workflowIdReusePolicy'>,
  ): Promise<LeaseAnswerOfRate> => {
    const startWorkflowOperation = new WithStartWorkflowOperation(RATE_WORKFLOW, {
      workflowId,
      taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [],
      ...start,
    });
    return client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.executeUpdateWithStart<Workflow, LeaseAnswerOfRate, [LeaseOrder]>(
        RATE_MESSAGES.lease,
        { args: [order], startWorkflowOperation },
      ),
    );
  };
  return async (workflowId, order) => {
    const anyCounter = { args: [{ v: 1 }] };
    if (order.permits === undefined) return ask(workflowId, order, anyCounter);
    try {
      // The service refuses to start it if there was one before, whose permits may be in use.
      return await ask(workflowId, order, {
        args: [{ v: 1, isFirst: true }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return ask(workflowId, order, anyCounter);
    }
  };
}
