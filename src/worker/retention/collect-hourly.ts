/**
 * Deletes blobs of forgotten runs and archived pages that are kept no longer, once an hour, in one
 * worker of all that share them. A failure is logged, and the next hour tries again.
 *
 * I1  Two workers never collect at once: who asks the service for hours renews its lease meanwhile, and
 *     who has lost it asks no more.
 */
import type { Client } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { errorText } from '../../core/base/error-text.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';
import { collectBlobs, type KnownRuns } from '../../protection/blobs/collect-blobs.ts';
import { takeLease } from '../../protection/blobs/directory-lease.ts';
import { collectArchive, type OpenRuns } from './collect-archive.ts';
import { knownWithForks } from './kept-by-fork.ts';
import { knownRuns } from './known-runs.ts';
import { checkOwner } from './store-owner.ts';

/** Blobs that are younger are kept in any case: a week. */
export const MIN_AGE_MS = 604_800_000;

const HOUR_MS = 3_600_000;

/** A lease that is renewed so often outlives a service that answers slowly. */
const RENEW_MS = HOUR_MS / 4;

/** Where to collect, and whom to tell. */
export interface HourlyCollection {
  readonly client: Client;
  /** Absent: there are no blobs. */
  readonly store?: BlobStore;
  /** The folder of the archive, and how long pages of ended runs stay. Absent: for ever. */
  readonly archive?: { readonly directory: string; readonly keepMs: number };
  /** The folder of the archive: it says which runs forks need. Absent: it is not looked at. */
  readonly forksIn?: string;
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
  { client, store, archive, forksIn, log }: HourlyCollection,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { namespace } = client.options;
  const holder = randomUUID();
  if (store !== undefined) {
    const lease = (): Promise<boolean> => store.takeLease(HOUR_MS, holder);
    const service = renewing(lease, knownRuns(client));
    const known =
      forksIn === undefined ? service : knownWithForks(service, { directory: forksIn, namespace });
    await collectAll({
      what: 'blobs of forgotten runs',
      place: store.place,
      mayBegin: async () => {
        await checkOwner(client.workflowService, namespace, store);
        return lease();
      },
      runs: () => collectBlobs({ store, namespace, known, olderThanMs: MIN_AGE_MS }),
    });
  }
  if (archive !== undefined) {
    const { directory } = archive;
    const lease = (): Promise<boolean> => takeLease(directory, HOUR_MS, holder);
    const open = renewing(lease, knownRuns(client));
    await collectAll({
      what: 'archived pages of ended runs',
      place: directory,
      mayBegin: lease,
      runs: () => collectArchive({ ...archive, namespace, open }),
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

/** `service`, whose questions renew the lease; they reject when another worker has it. */
function renewing(
  lease: () => Promise<boolean>,
  service: KnownRuns & OpenRuns,
): KnownRuns & OpenRuns {
  let renewedAt = Date.now();
  const renew = async (): Promise<void> => {
    if (Date.now() - renewedAt < RENEW_MS) return;
    if (!(await lease())) throw new Error('Another worker has begun to collect.');
    renewedAt = Date.now();
  };
  return {
    isKnown: (id) => renew().then(() => service.isKnown(id)),
    isOpen: (id, firstRunId) => renew().then(() => service.isOpen(id, firstRunId)),
    isRetained: (id, firstRunId) => renew().then(() => service.isRetained(id, firstRunId)),
    hasRunsFrom: (start) => renew().then(() => service.hasRunsFrom(start)),
    hasOpenFrom: (start) => renew().then(() => service.hasOpenFrom(start)),
  };
}

/** What is collected, and where. */
interface Kind {
  readonly what: string;
  readonly place: string;
  readonly mayBegin: () => Promise<boolean>;
  readonly runs: () => AsyncIterable<{ readonly bytes: number }>;
}
