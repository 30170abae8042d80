/** Asks the service which runs it still has: a few questions a second, and no guess. */
import {
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import { tolerant } from '../../client/connection/open-connection.ts';
import { quoted } from '../../client/connection/list-queries.ts';
import { isAlive } from '../../client/connection/service-calls.ts';
import type { KnownRuns } from '../../protection/blobs/collect-blobs.ts';
import type { OpenRuns } from './collect-archive.ts';
import { scheduleKeeping } from './kept-by-schedule.ts';

/** Ten questions a second leave the service to its runs. */
const PAUSE_MS = 100;

/** Answers for runs above others, which each of them asks for. */
const MAX_KEPT = 1_000;
const KEPT_MS = 60_000;

/** What the service of `client` knows. */
export function knownRuns(client: Client, pauseMs: number = PAUSE_MS): KnownRuns & OpenRuns {
  // Only that a run is known is kept: that it is not, must be true when a blob is deleted.
  const known = new LRUCache<string, true>({ max: MAX_KEPT, ttl: KEPT_MS });
  return {
    isKnown: async (workflowId) => {
      if (known.has(workflowId)) return true;
      await sleep(pauseMs);
      const isForgotten = (await describe(client, workflowId)) === undefined;
      if (isForgotten && (await scheduleKeeping(client, workflowId)) === undefined) return false;
      known.set(workflowId, true);
      return true;
    },
    isOpen: async (workflowId, firstRunId) => {
      await sleep(pauseMs);
      const found = await describe(client, workflowId);
      if (found === undefined || !isAlive(found.status.name)) return false;
      // A run that began later may have the same id.
      const first = found.raw.workflowExecutionInfo?.firstRunId || found.runId;
      return firstRunId === undefined || first === firstRunId;
    },
    isRetained: async (workflowId, firstRunId) => {
      await sleep(pauseMs);
      const found = await describe(client, workflowId);
      const first = found?.raw.workflowExecutionInfo?.firstRunId || found?.runId;
      if (found === undefined || first === firstRunId) return found !== undefined;
      // A run that began later has the same id.
      return (await describe(client, workflowId, firstRunId)) !== undefined;
    },
    hasRunsFrom: async (start) => {
      await sleep(pauseMs);
      const { count } = await client.workflow.count(startingWith(start));
      return count > 0;
    },
    hasOpenFrom: async (start) => {
      await sleep(pauseMs);
      const open = `${startingWith(start)} AND ExecutionStatus = 'Running'`;
      const { count } = await client.workflow.count(open);
      return count > 0;
    },
  };
}

function startingWith(start: string): string {
  return `WorkflowId STARTS_WITH ${quoted(start)}`;
}

/** An execution of a run, by default the newest; undefined if the service has none. */
async function describe(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await tolerant(client).workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    // Also a namespace may be unknown, which says nothing of its runs.
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
