import { Context } from '@temporalio/activity';

/**
 * Whether the current activity was stopped by the service or its worker (shutdown, pause, reset)
 * and is to be tried again. False for a cancel, which is what a user asked for.
 */
export function isStoppedByService(): boolean {
  const details = Context.current().cancellationDetails;
  return details?.workerShutdown === true || details?.paused === true || details?.reset === true;
}
