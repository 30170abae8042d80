/** Weights of tenants in task queues: the service keeps them, and its own fairness uses them. */
import type { Client } from '@temporalio/client';
import { UsageError } from '../../core/base/usage-error.ts';
import { grpcCodeOf } from '../connection/service-errors.ts';

/** Kinds of task queues, as the service numbers them: of workflows and of activities. */
const KINDS = [1, 2] as const;

/** The gRPC status of a service that lacks a call. */
const UNIMPLEMENTED = 12;

/**
 * Sets the weight of `tenant` in task queues; null: the default of 1.
 *
 * @throws UsageError `invalid_input` for a service without weights.
 */
export async function setWeight(
  client: Client,
  tenant: string,
  weight: number | null,
  taskQueues: readonly string[],
): Promise<void> {
  const { namespace, identity } = client.options;
  const change =
    weight === null
      ? { unsetFairnessWeightOverrides: [tenant] }
      : { setFairnessWeightOverrides: { [tenant]: weight } };
  try {
    for (const taskQueue of taskQueues) {
      for (const taskQueueType of KINDS) {
        const request = { namespace, identity, taskQueue, taskQueueType, ...change };
        await client.workflowService.updateTaskQueueConfig(request);
      }
    }
  } catch (error) {
    if (grpcCodeOf(error) !== UNIMPLEMENTED) throw error;
    throw new UsageError(
      'invalid_input',
      'Expected a Temporal service with weights of fairness keys (1.29 or newer), got one without. Leave `weight` out.',
    );
  }
}
