/**
 * The callbacks of runs that have just ended. A run ends once the service has its callbacks, before
 * a worker has sent them. A process whose only worker stops then would leave them waiting until
 * some worker serves the queue again, so it gives them a moment first.
 */
import type { Client } from '@temporalio/client';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import { newestEvents } from '../../client/connection/newest-events.ts';
import { isAlive } from '../../client/connection/service-calls.ts';
import { CALLBACK_WORKFLOW, type OnEventInput } from '../../core/contract/callback.ts';
import { tolerant } from '../../client/connection/open-connection.ts';

/** The runs of a process whose callbacks are waited for. */
export interface LastCallbacks {
  /** Notes a run that was started; one that calls nobody is ignored. */
  readonly add: (run: StartedRun) => void;
  /** Settles when the callbacks of all runs that have ended are sent, or after 10 s; never rejects. */
  readonly sent: () => Promise<void>;
}

/** A run that this process has started. */
export interface StartedRun {
  readonly id: string;
  readonly agent: string;
  /** The callbacks of its start. */
  readonly onEvent?: OnEventInput | undefined;
}

/** A script starts few runs; of more, the newest count. */
const MAX_RUNS = 100;

/** A receiver that is up answers long before this; one that is down is tried later. */
const WAIT_MS = 10_000;

/** The end of a history: what a run starts as it ends stands within so many events. */
const NEWEST_EVENTS = 50;

/** No run yet; `agents` are those of the worker. */
export function createLastCallbacks(
  client: Client,
  agents: readonly AgentDefinition[],
): LastCallbacks {
  const runs = new Set<string>();
  const calling = new Set(agents.flatMap((it) => (it.onEvent === undefined ? [] : it.name)));
  return {
    add: ({ id, agent, onEvent }) => {
      if (onEvent === undefined && !calling.has(agent)) return;
      runs.add(id);
      const [oldest] = runs;
      if (runs.size > MAX_RUNS && oldest !== undefined) runs.delete(oldest);
    },
    sent: async () => {
      if (runs.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)));
      const all = Promise.all([...runs].map((id) => sentBy(client, id)));
      await Promise.race([all, late]);
      clearTimeout(timer);
    },
  };
}

/** Settles when the last callbacks of a run have been sent or given up; at once if it is alive. */
async function sentBy(client: Client, id: string): Promise<void> {
  try {
    const { status } = await tolerant(client).workflow.getHandle(id).describe();
    if (isAlive(status.name)) return;
    const deliveries = await lastDeliveries(client, id);
    await Promise.allSettled(deliveries.map((it) => client.workflow.getHandle(it).result()));
  } catch {
    // The service has the callbacks, so another worker can send them.
  }
}

async function lastDeliveries(client: Client, id: string): Promise<readonly string[]> {
  const deliveries: string[] = [];
  let read = 0;
  for await (const event of newestEvents(client, id)) {
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const delivery = child?.workflowType?.name === CALLBACK_WORKFLOW ? child.workflowId : null;
    if (typeof delivery === 'string') deliveries.push(delivery);
    read += 1;
    if (read === NEWEST_EVENTS) break;
  }
  return deliveries;
}
