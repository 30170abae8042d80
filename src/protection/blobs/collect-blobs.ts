/**
 * Deletes blobs of runs that the service has forgotten.
 *
 * I1  Age alone deletes nothing: a question may wait for a year. What is young is kept in any case,
 *     because a start stores its blobs before the service knows the run.
 * I2  A run is kept while the service knows it, a run above it or a run below it: the SDK keeps the
 *     results of children with their parents or with themselves, and a parent reads them for as long
 *     as it lives.
 * I3  Only a clear answer deletes. Any error of the service ends the collection.
 * I4  The store keeps what was stored again since the question was asked.
 */
import { belowOf, headAbove } from '../../core/base/ids.ts';
import type { BlobStore } from './blob-store.ts';

/** What the service says about runs. */
export interface KnownRuns {
  /** Whether the service has a run with this id, open or closed; rejects if that is not certain. */
  isKnown(workflowId: string): Promise<boolean>;
  /** Whether it has a run whose id begins so. */
  hasRunsFrom(start: string): Promise<boolean>;
}

/** What to delete. */
export interface Collection {
  readonly store: Pick<BlobStore, 'runs' | 'remove'>;
  readonly namespace: string;
  readonly known: KnownRuns;
  /** Runs whose newest blob is younger are not looked at, in ms. */
  readonly olderThanMs: number;
  /** True: says what would be deleted, and deletes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: () => number;
}

/** A run whose blobs were deleted, or would be. */
export interface CollectedRun {
  readonly workflowId: string;
  readonly blobs: number;
  readonly bytes: number;
}

/** Deletes what no run needs, and gives each run that it took. */
export async function* collectBlobs(collection: Collection): AsyncGenerator<CollectedRun> {
  const { store, namespace, known, olderThanMs, dryRun = false, now = Date.now } = collection;
  for await (const { workflowId, newestAt, blobs, bytes } of store.runs(namespace)) {
    const before = now() - olderThanMs;
    if (workflowId === undefined || newestAt >= before) continue;
    if (await isNeeded(known, workflowId)) continue;
    const removed = dryRun ? { blobs, bytes } : await store.remove(namespace, workflowId, before);
    if (removed.bytes > 0) yield { workflowId, ...removed };
  }
}

async function isNeeded(known: KnownRuns, workflowId: string): Promise<boolean> {
  for (const id of selfAndAbove(workflowId)) if (await known.isKnown(id)) return true;
  const head = headAbove(workflowId);
  if (head !== undefined && (await known.hasRunsFrom(head))) return true;
  return known.hasRunsFrom(belowOf(workflowId));
}

/** `a/1/2`, `a/1`, `a`: ids of children begin with that of their parent, but see `headAbove`. */
export function selfAndAbove(workflowId: string): readonly string[] {
  const ids = [workflowId];
  for (let at = workflowId.lastIndexOf('/'); at > 0; at = workflowId.lastIndexOf('/', at - 1)) {
    ids.push(workflowId.slice(0, at));
  }
  return ids;
}
