/**
 * Deletes blobs of forgotten runs once an hour, in one worker of all that share a store. A failure is
 * logged, and the next hour tries again.
 */
import type { Client } from '@temporalio/client';
import { errorText } from '../../core/base/error-text.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';
import { collectBlobs } from '../../protection/blobs/collect-blobs.ts';
import { knownRuns } from './known-runs.ts';

/** Blobs that are younger are kept in any case: a week. */
export const MIN_AGE_MS = 604_800_000;

const HOUR_MS = 3_600_000;

/** Where to collect, and whom to tell. */
export interface HourlyCollection {
  readonly client: Client;
  readonly store: BlobStore;
  readonly log: (level: 'INFO' | 'WARN', message: string) => void;
}

/** Collects each hour, from some minute of the first one on, until the returned function is called. */
export function collectHourly(collection: HourlyCollection): () => void {
  let isStopped = false;
  const again = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      void collectOnce(collection, () => isStopped).finally(() => {
        if (!isStopped) timer = again(HOUR_MS);
      });
    }, ms).unref();
  let timer = again(Math.random() * HOUR_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Collects if no other process has within the hour. Never rejects. */
export async function collectOnce(
  { client, store, log }: HourlyCollection,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let [runs, bytes] = [0, 0];
  try {
    if (!(await store.takeLease(HOUR_MS))) return;
    const { namespace } = client.options;
    const parts = { store, namespace, known: knownRuns(client), olderThanMs: MIN_AGE_MS };
    for await (const collected of collectBlobs(parts)) {
      runs += 1;
      bytes += collected.bytes;
      if (isStopped()) return;
    }
    if (runs > 0) log('INFO', `Deleted ${bytes} bytes of blobs of ${runs} forgotten runs.`);
  } catch (error) {
    log('WARN', `Blobs of forgotten runs in ${store.place} were not deleted: ${errorText(error)}`);
  }
}
