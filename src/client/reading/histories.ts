/** The histories of a run, for a replay elsewhere. */
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { isNotFound } from '../connection/service-errors.ts';
import { readLinks } from './links.ts';

/** The history of one link, as the service exports it: JSON, and encrypted where the run is. */
export interface LinkHistory {
  readonly executionId: string;
  readonly history: unknown;
}

/**
 * The histories that the service still has of run `id`, oldest first. Each is read when it is asked
 * for, so only one is in memory.
 *
 * @throws UsageError `run_not_found`.
 */
export async function* readHistories(client: Client, id: string): AsyncGenerator<LinkHistory> {
  for (const { executionId } of await readLinks(client, id)) {
    try {
      const history = await client.workflow.getHandle(id, executionId).fetchHistory();
      yield { executionId, history: JSON.parse(historyToJSON(history)) as unknown };
    } catch (error) {
      // The service has deleted this link meanwhile.
      if (!isNotFound(error)) throw error;
    }
  }
}
