/**
 * A bucket as a store of large payloads, in S3 or what speaks its protocol:
 * `{namespace}/{run}/{hour}/{sha256}`.
 *
 * I1  A blob lies below the hour in which it was stored, in hours since 1970, and is written in no
 *     other hour. A deletion takes only hours that ended before its limit, an hour ago at the least: so
 *     it never takes what is being stored again, although a bucket cannot rename or lock.
 * I2  A blob is read by a range, so that a bucket gives no more than was asked for.
 * I3  Every request ends: the caller may repeat it.
 */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { errorText } from '../../core/base/error-text.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { digestOf, folderOf, isCut, isDigest, ownerFileOf, runIdOf } from './blob-names.ts';
import {
  blobDriver,
  type BlobStore,
  type NamedBlob,
  type RemovedBlobs,
  type StoredRun,
} from './blob-store.ts';
import {
  openBucket,
  type Bucket,
  type FoundObject,
  type S3Options,
  type StoredObject,
} from './s3-bucket.ts';

const HOUR_MS = 3_600_000;

/** Below each hour of a run whose folder name was cut: the id of the run. */
const RUN_FILE = 'run-id';

/** Whose time says when the lease was last taken or renewed, and whose content by whom. */
const LEASE_FILE = 'gc.lease';

/** Ids of runs are shorter. */
const MAX_ID_BYTES = 4_096;

/** What was stored or read last, so that a result is not fetched by the process that stored it. */
const CACHE_BYTES = 33_554_432;

/** A bucket, and a prefix of characters that every store takes as they are. */
const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]{0,400}))?$/;

/**
 * Keeps large payloads in a bucket: `s3://bucket/prefix`. All processes of a namespace need the same
 * one. It needs the package `@aws-sdk/client-s3`, which is loaded with the first request.
 *
 * @throws UsageError `protection` if `place` has another form.
 * @example
 * await runWorker({ agents, protection: { blobs: s3Blobs('s3://acme-everloop/blobs') } });
 */
export function s3Blobs(place: string, options: S3Options = {}): BlobStore {
  const [name, prefix] = readPlace(place);
  let opening: Promise<Bucket> | undefined;
  return bucketBlobs(place, () => {
    opening ??= openBucket(name, prefix, options).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  });
}

/** The store over a bucket that the first request opens. `now` is in ms since 1970. */
export function bucketBlobs(
  place: string,
  bucket: () => Promise<Bucket>,
  now: () => number = Date.now,
): BlobStore {
  const recent = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  return {
    driver: blobDriver({
      name: 'everloop-s3',
      type: 'everloop.s3',
      place,
      put: async (blob) => {
        const key = await put(await bucket(), blob, Math.floor(now() / HOUR_MS));
        recent.set(key, blob.bytes);
        return key;
      },
      get: async (key, maxBytes) => {
        const known = recent.get(key);
        if (known !== undefined) return known;
        const bytes = (await (await bucket()).get(key, maxBytes))?.bytes;
        if (bytes !== undefined && key.endsWith(digestOf(bytes))) recent.set(key, bytes);
        return bytes;
      },
    }),
    place,
    probe: () => probe(bucket, place),
    takeLease: async (ms, holder) => takeLease(await bucket(), ms, holder),
    own: async (namespace, owner) => own(await bucket(), ownerFileOf(namespace), owner),
    async *runs(namespace) {
      yield* runsBelow(await bucket(), `${folderOf(namespace)}/`);
    },
    async *heads(namespace, maxBytes) {
      const opened = await bucket();
      for await (const { name, key } of placedBelow(opened, `${folderOf(namespace)}/`)) {
        const found = isDigest(name) ? await opened.get(key, maxBytes) : undefined;
        if (found !== undefined) yield found.bytes;
      }
    },
    remove: async (namespace, workflowId, before = Number.POSITIVE_INFINITY) =>
      remove(await bucket(), `${folderOf(namespace)}/${folderOf(workflowId)}/`, before),
  };
}

/** Whether `place` has the form of a bucket and its prefix. */
export function isS3Place(place: string): boolean {
  const prefix = PLACE.exec(place)?.[2];
  return PLACE.test(place) && !(prefix ?? '').split('/').some((part) => /^\.\.?$/.test(part));
}

function readPlace(place: string): readonly [string, string] {
  const [, bucket = '', path = ''] = PLACE.exec(place) ?? [];
  if (typeof place !== 'string' || !isS3Place(place)) {
    throw new UsageError(
      'protection',
      'Expected the place of a bucket for blobs as `s3://bucket/prefix`, got another text. Correct it.',
    );
  }
  const parts = path.split('/').filter((part) => part !== '');
  return [bucket, parts.map((part) => `${part}/`).join('')];
}

async function put(
  bucket: Bucket,
  { folder, sha256, bytes, runId }: NamedBlob,
  hours: number,
): Promise<string> {
  const hour = `${folder}/${hours}`;
  if (runId !== undefined && isCut(folderOf(runId))) {
    await bucket.put(`${hour}/${RUN_FILE}`, Buffer.from(runId));
  }
  await bucket.put(`${hour}/${sha256}`, bytes);
  return `${hour}/${sha256}`;
}

/** A stored object: the folder of its run, the end of its hour, and its name. */
interface Placed extends StoredObject {
  readonly folder: string;
  /** From when on nothing is written below its hour, in ms since 1970. */
  readonly until: number;
  readonly name: string;
}

/** The objects below a folder that are ours, in the order of their keys. */
async function* placedBelow(bucket: Bucket, folder: string): AsyncGenerator<Placed> {
  for await (const object of bucket.list(folder)) {
    const [, run, hour, name] = /^[^/]+\/([^/]+)\/(\d{1,9})\/([^/]+)$/.exec(object.key) ?? [];
    if (run === undefined || name === undefined) continue;
    yield { ...object, folder: run, until: (Number(hour) + 1) * HOUR_MS, name };
  }
}

/** Objects of one run follow each other, so one run is held at a time. */
async function* runsBelow(bucket: Bucket, namespace: string): AsyncGenerator<StoredRun> {
  let run: { readonly folder: string; newestAt: number; blobs: number; bytes: number } | undefined;
  let idKey: string | undefined;
  for await (const { folder, until, name, key, bytes } of placedBelow(bucket, namespace)) {
    if (run?.folder !== folder) {
      if (run !== undefined) yield { ...run, workflowId: await workflowIdOf(bucket, run, idKey) };
      run = { folder, newestAt: 0, blobs: 0, bytes: 0 };
      idKey = undefined;
    }
    run.newestAt = Math.max(run.newestAt, until);
    run.bytes += bytes;
    if (isDigest(name)) run.blobs += 1;
    if (name === RUN_FILE) idKey = key;
  }
  if (run !== undefined) yield { ...run, workflowId: await workflowIdOf(bucket, run, idKey) };
}

async function workflowIdOf(
  bucket: Bucket,
  { folder }: { readonly folder: string },
  idKey: string | undefined,
): Promise<string | undefined> {
  if (!isCut(folder)) return runIdOf(folder);
  const id = idKey === undefined ? undefined : textOf(await bucket.get(idKey, MAX_ID_BYTES));
  return id !== undefined && folderOf(id) === folder ? id : undefined;
}

async function remove(bucket: Bucket, folder: string, before: number): Promise<RemovedBlobs> {
  let [blobs, bytes] = [0, 0];
  const old: string[] = [];
  for await (const object of placedBelow(bucket, folder)) {
    if (object.until >= before) continue;
    old.push(object.key);
    bytes += object.bytes;
    if (isDigest(object.name)) blobs += 1;
  }
  await bucket.remove(old);
  return { blobs, bytes };
}

async function probe(bucket: () => Promise<Bucket>, place: string): Promise<void> {
  try {
    const opened = await bucket();
    const key = `${randomUUID()}.probe`;
    await opened.put(key, Buffer.from('probe'));
    const found = await opened.get(key, 100);
    await opened.remove([key]);
    if (textOf(found) === 'probe') return;
    throw new Error('A probe was not given back.');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      'blob_store',
      `Expected blob store \`${place}\` to be a bucket that this process may read and write, got: ${errorText(error)} Correct the bucket, or the region, endpoint and credentials of the AWS variables.`,
    );
  }
}

/** Of several processes, one writes over the object that all have seen. */
async function takeLease(bucket: Bucket, ms: number, holder: string): Promise<boolean> {
  const taken = await bucket.get(LEASE_FILE, 100);
  const isOwn = textOf(taken) === holder;
  if (taken !== undefined && !isOwn && Date.now() - taken.storedAt < ms) return false;
  return bucket.replace(LEASE_FILE, Buffer.from(holder), taken?.etag);
}

async function own(bucket: Bucket, key: string, owner: string): Promise<string> {
  const noted = async (): Promise<string | undefined> =>
    textOf(await bucket.get(key, MAX_ID_BYTES));
  const known = await noted();
  if (known !== undefined) return known;
  await bucket.replace(key, Buffer.from(owner), undefined);
  return (await noted()) ?? owner;
}

/** The content of an object as text; undefined if there is none. */
function textOf(found: FoundObject | undefined): string | undefined {
  return found && Buffer.from(found.bytes).toString();
}
