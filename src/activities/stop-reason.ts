import { Context } from '@temporalio/activity';

/**
 * Whether the service or the worker stopped the current activity (shutdown, pause, reset), so that
 * it is to be retried. False for a cancel by a user.
 */
export function isStoppedByService(): boolean {
  const details = Context.current().cancellationDetails;
  return details?.workerShutdown === true || details?.paused === true || details?.reset === true;
}
