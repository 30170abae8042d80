/**
 * Deletes archived pages of runs that ended long ago. Pages are there to outlive the histories of the
 * service, so they stay for ever unless a time is named.
 *
 * I1  Age alone deletes nothing: pages of a run that is open, or is below one that is, stay. So do
 *     those that a fork shows as its own beginning, while the service has the fork.
 * I2  Any error of the service ends the collection.
 */
import { join } from 'node:path';
import { selfAndAbove } from '../../protection/blobs/collect-blobs.ts';
import { headAbove } from '../../core/base/ids.ts';
import { archivedRuns, removePages, type ArchivedRun } from '../files/archived-runs.ts';
import { forkKeeping, type RetainedRuns } from './kept-by-fork.ts';

/** What the service says about runs. */
export interface OpenRuns extends RetainedRuns {
  /**
   * Whether run `workflowId` is open, and its first execution is `firstRunId` if that is given;
   * rejects if that is not certain.
   */
  isOpen(workflowId: string, firstRunId?: string): Promise<boolean>;
  /** Whether a run is open whose id begins so. */
  hasOpenFrom(start: string): Promise<boolean>;
}

/** What to delete. */
export interface ArchiveCollection {
  readonly directory: string;
  readonly namespace: string;
  readonly open: OpenRuns;
  /** Runs whose newest page is younger are not looked at, in ms. */
  readonly keepMs: number;
  /** True: says what would be deleted, and deletes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: () => number;
}

/** A run whose pages were deleted, or would be. */
export type ArchivedBytes = Pick<ArchivedRun, 'workflowId' | 'bytes'>;

/** Deletes what is kept no longer, and gives each run that it took. */
export async function* collectArchive(
  collection: ArchiveCollection,
): AsyncGenerator<ArchivedBytes> {
  const { directory, namespace, open, keepMs, dryRun = false, now = Date.now } = collection;
  for await (const run of archivedRuns(directory)) {
    const before = now() - keepMs;
    if (run.namespace !== namespace || run.newestAt >= before) continue;
    if (await isNeeded(open, run)) continue;
    if ((await forkKeeping({ directory, runId: run.runId }, open)) !== undefined) continue;
    if (!dryRun) await removePages(join(directory, run.runId), before);
    yield { workflowId: run.workflowId, bytes: run.bytes };
  }
}

async function isNeeded(open: OpenRuns, { workflowId, runId }: ArchivedRun): Promise<boolean> {
  if (await open.isOpen(workflowId, runId)) return true;
  const [, ...above] = selfAndAbove(workflowId);
  for (const id of above) if (await open.isOpen(id)) return true;
  const head = headAbove(workflowId);
  return head !== undefined && (await open.hasOpenFrom(head));
}
