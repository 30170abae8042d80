/**
 * Deletes blobs of forgotten runs and archived pages that are kept no longer, once an hour, in one
 * worker of all that share them. A failure is logged, and the next hour tries again.
 */
import type { Client } from '@temporalio/client';
import { errorText } from '../../core/base/error-text.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';
import { collectBlobs } from '../../protection/blobs/collect-blobs.ts';
import { takeLease } from '../../protection/blobs/directory-lease.ts';
import { collectArchive } from './collect-archive.ts';
import { knownRuns } from './known-runs.ts';
import { checkOwner } from './store-owner.ts';

/** Blobs that are younger are kept in any case: a week. */
export const MIN_AGE_MS = 604_800_000;

const HOUR_MS = 3_600_000;

/** Where to collect, and whom to tell. */
export interface HourlyCollection {
  readonly client: Client;
  /** Absent: there are no blobs. */
  readonly store?: BlobStore;
  /** The folder of the archive, and how long pages of ended runs stay. Absent: for ever. */
  readonly archive?: { readonly directory: string; readonly keepMs: number };
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
  { client, store, archive, log }: HourlyCollection,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { namespace } = client.options;
  const known = knownRuns(client);
  if (store !== undefined) {
    const parts = { store, namespace, known, olderThanMs: MIN_AGE_MS };
    await collectAll({
      what: 'blobs of forgotten runs',
      place: store.place,
      mayBegin: async () => {
        await checkOwner(client.workflowService, namespace, store);
        return store.takeLease(HOUR_MS);
      },
      runs: () => collectBlobs(parts),
    });
  }
  if (archive !== undefined) {
    await collectAll({
      what: 'archived pages of ended runs',
      place: archive.directory,
      mayBegin: () => takeLease(archive.directory, HOUR_MS),
      runs: () => collectArchive({ ...archive, namespace, open: known }),
    });
  }

  async function collectAll({ what, place, mayBegin, runs }: Kind): Promise<void> {
    let [count, bytes] = [0, 0];
    try {
      if (isStopped() || !(await mayBegin())) return;
      for await (const run of runs()) {
        count += 1;
        bytes += run.bytes;
        if (isStopped()) return;
      }
      if (count > 0) log('INFO', `Deleted ${bytes} bytes of ${count} runs in ${place}: ${what}.`);
    } catch (error) {
      log('WARN', `Not all ${what} in ${place} were deleted: ${errorText(error)}`);
    }
  }
}

/** What is collected, and where. */
interface Kind {
  readonly what: string;
  readonly place: string;
  readonly mayBegin: () => Promise<boolean>;
  readonly runs: () => AsyncIterable<{ readonly bytes: number }>;
}
