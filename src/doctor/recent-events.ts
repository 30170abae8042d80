/** What the checks read from the newest events of a run's history. */
import type { Client } from '@temporalio/client';
import type { HandoverAdvice } from './checks/doctor-service.ts';
import { newestEvents } from '../client/connection/newest-events.ts';
import { millisecondsOf } from '../client/connection/service-time.ts';

/** What the service tells a run about handing over; null: no task has begun. */
export async function readHandoverAdvice(
  client: Client,
  id: string,
): Promise<HandoverAdvice | null> {
  let since: number | null = null;
  for await (const event of newestEvents(client, id)) {
    const started = event.workflowTaskStartedEventAttributes;
    if (started === undefined || started === null) continue;
    const isDue =
      started.suggestContinueAsNew === true ||
      started.targetWorkerDeploymentVersionChanged === true;
    if (!isDue) return { isDue: since !== null, since };
    since = millisecondsOf(event.eventTime);
  }
  return since === null ? null : { isDue: true, since };
}
