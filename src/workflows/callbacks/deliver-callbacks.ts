/**
 * The workflow that delivers callbacks of a run. It is a child of the run that outlives it: the run
 * neither waits for a receiver, nor ends with one, and what it said at its end is still delivered.
 */
import {
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { EverloopActivities } from '../../activities/activity-types.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import { errorText } from '../../core/base/error-text.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { CallbackMessage } from '../../core/contract/callback.ts';
import { CALLBACK_OPTIONS } from '../attempts/activity-options.ts';

/**
 * Delivers each message of a {@link CallbackOrder}, all at once; the service repeats each for a day.
 *
 * @throws ApplicationFailure `callback_failed` once each has ended, if one was not delivered.
 */
export async function deliverCallbacks(order: unknown): Promise<void> {
  const messages = isPlainObject(order) ? order['messages'] : undefined;
  if (!Array.isArray(messages)) {
    throw failed('invalid_input', 'Expected callbacks to deliver, got something else.');
  }
  const { deliverCallback } = proxyActivities<EverloopActivities>(CALLBACK_OPTIONS);
  const ends = await Promise.allSettled(
    (messages as readonly CallbackMessage[]).map((message) => deliverCallback(message)),
  );
  const failures = ends.flatMap((end) =>
    end.status === 'rejected' ? [end.reason as unknown] : [],
  );
  const [first] = failures;
  if (first === undefined) return;
  if (isCancellation(first)) throw first;
  const cause = errorText(first instanceof Error ? (first.cause ?? first) : first);
  throw failed(
    'callback_failed',
    `${failures.length} of ${messages.length} callbacks were not delivered. The first: ${cause}`,
  );
}

/** As `failureOf`, whose module would bring the whole core into bundles of other workflows. */
function failed(type: FailureType, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

// It may take a day, and must not keep an old version of the workers in service for so long. The
// service refuses every task of a worker without a version that names a behavior; such a worker has
// a build, but no deployment.
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, deliverCallbacks);
