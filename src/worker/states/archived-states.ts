/**
 * What the archive has of links that the service has forgotten: the states that they handed over, and
 * their histories, if somebody has saved them.
 */
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Archive } from '../../activities/archive-transcript.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { RunState } from '../../core/run/run-state.ts';

/** A history as the service gives it. */
export type ArchivedHistory = ReturnType<typeof historyFromJSON>;

/** A link of a chain, by its number from 1. */
export interface ArchivedLinkId {
  readonly workflowId: string;
  /** The run id of the first link. */
  readonly runId: string;
  readonly executionId: string;
  readonly link: number;
}

/** Reads what was archived. */
export interface StateArchive {
  /** The states of the chain `runId`, oldest first. */
  read(runId: string): Promise<readonly RunState[]>;
  /** The history of a link; null if it was not saved. */
  history(link: ArchivedLinkId): Promise<ArchivedHistory | null>;
}

/** What is in `archive`. */
export function createStateArchive(archive: Pick<Archive, 'read'>): StateArchive {
  return {
    read: async (runId) => {
      const items = await archive.read(runId, 'states', 0, Number.MAX_SAFE_INTEGER);
      return items.filter((item) => isPlainObject(item)) as unknown as readonly RunState[];
    },
    history: async ({ workflowId, runId, executionId, link }) => {
      const [item] = await archive.read(runId, 'histories', link - 1, link);
      if (!isPlainObject(item) || item['v'] !== 1) return null;
      const isOf = item['workflowId'] === workflowId && item['executionId'] === executionId;
      return isOf ? historyFromJSON(item['history']) : null;
    },
  };
}
