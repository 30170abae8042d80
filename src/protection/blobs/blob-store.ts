/**
 * Stores of large payloads, and what all of them share: claims, sizes, hashes and deadlines.
 *
 * I1  A blob is named by the hash of its content, which is checked whenever it is read.
 * I2  A claim comes as data. It never leads out of the store, and never to more than
 *     {@link MAX_BLOB_BYTES}.
 * I3  A store that does not answer is an error, which a worker repeats.
 */
import {
  StorageDriverClaim,
  type Payload,
  type StorageDriver,
  type StorageDriverTargetInfo,
} from '@temporalio/common';
// It is CommonJS, and Node finds no names in it.
import proto from '@temporalio/proto';
import { errorText } from '../../core/base/error-text.ts';
import {
  BlobDamagedError,
  BlobMissingError,
  BlobStoreError,
  BlobTooLargeError,
} from './blob-errors.ts';
import { digestOf, folderOf, isDigest, isKey } from './blob-names.ts';

/** The largest blob, in bytes: 32 MiB. */
export const MAX_BLOB_BYTES = 33_554_432;

/** Payloads from this size on are stored; the service refuses messages of 2 MiB. */
export const BLOB_THRESHOLD_BYTES = 262_144;

/** How long a store may take for one call of the SDK, in ms. */
const ANSWER_MS = 60_000;

/** The blobs of one run. */
export interface StoredRun {
  /** The id of the run; undefined if the store does not know it, so that nothing is deleted. */
  readonly workflowId: string | undefined;
  /** When the newest of its blobs was stored, in ms since 1970. */
  readonly newestAt: number;
  readonly blobs: number;
  readonly bytes: number;
}

/** What was deleted. */
export interface RemovedBlobs {
  readonly blobs: number;
  readonly bytes: number;
}

/** A store of large payloads: a folder or a bucket. */
export interface BlobStore {
  /** What the SDK stores and reads by. */
  readonly driver: StorageDriver;
  /** For messages: `dir:/var/lib/everloop/blobs`, `s3://bucket/prefix`. */
  readonly place: string;
  /**
   * Writes, reads and removes a probe.
   *
   * @throws UsageError `blob_store` if that does not work.
   */
  probe(): Promise<void>;
  /** The runs of a namespace that have blobs. */
  runs(namespace: string): AsyncIterable<StoredRun>;
  /**
   * Deletes the blobs of a run that were last stored before `before`, in ms since 1970; default: all
   * of them.
   */
  remove(namespace: string, workflowId: string, before?: number): Promise<RemovedBlobs>;
}

/** What a store does with bytes under a key. */
export interface BlobBytes {
  readonly name: string;
  readonly type: string;
  readonly place: string;
  /**
   * Keeps `bytes` under `key`, also against a deletion of old blobs that runs at the same time. A
   * key always has the same bytes.
   */
  put(key: string, bytes: Uint8Array, runId: string | undefined): Promise<void>;
  /** The bytes under `key`, at most `maxBytes` and one; undefined if there are none. */
  get(key: string, maxBytes: number): Promise<Uint8Array | undefined>;
}

const message = proto.temporal.api.common.v1.Payload;

/** The driver of the SDK over a store of bytes. */
export function blobDriver(store: BlobBytes): StorageDriver {
  return {
    name: store.name,
    type: store.type,
    store: ({ target, abortSignal }, payloads) =>
      answered(store, 'take a blob', async () => {
        const claims: StorageDriverClaim[] = [];
        for (const payload of payloads) {
          abortSignal?.throwIfAborted();
          claims.push(await storeOne(store, payload, target));
        }
        return claims;
      }),
    retrieve: ({ abortSignal }, claims) =>
      answered(store, 'give a blob', async () => {
        const payloads: Payload[] = [];
        for (const claim of claims) {
          abortSignal?.throwIfAborted();
          payloads.push(await readOne(store, claim));
        }
        return payloads;
      }),
  };
}

async function storeOne(
  store: BlobBytes,
  payload: Payload,
  target: StorageDriverTargetInfo | undefined,
): Promise<StorageDriverClaim> {
  const bytes = message.encode(payload).finish();
  if (bytes.length > MAX_BLOB_BYTES) throw new BlobTooLargeError(bytes.length, MAX_BLOB_BYTES);
  const sha256 = digestOf(bytes);
  const runId = target?.kind === 'workflow' ? target.id : undefined;
  const key = `${folderOf(target?.namespace)}/${folderOf(runId)}/${sha256}`;
  await store.put(key, bytes, runId);
  return new StorageDriverClaim({ v: '1', key, sha256, bytes: String(bytes.length) });
}

async function readOne(store: BlobBytes, { claimData }: StorageDriverClaim): Promise<Payload> {
  const { place } = store;
  const { v, key = '', sha256 = '', bytes: size = '' } = claimData;
  const wanted = Number(size);
  const isValid =
    v === '1' && isKey(key) && isDigest(sha256) && key.endsWith(`/${sha256}`) && /^\d+$/.test(size);
  if (!isValid || wanted > MAX_BLOB_BYTES) {
    throw new BlobDamagedError(place, key.slice(0, 300), 'a reference that is not valid');
  }
  const bytes = await store.get(key, wanted);
  if (bytes === undefined) throw new BlobMissingError(place, key);
  if (bytes.length !== wanted) {
    throw new BlobDamagedError(place, key, `one that does not have ${wanted} bytes`);
  }
  if (digestOf(bytes) !== sha256) throw new BlobDamagedError(place, key, 'other content');
  return message.decode(bytes);
}

/** What `work` returns in time; failures of the store say which store it is. */
async function answered<Value>(
  { place }: BlobBytes,
  what: string,
  work: () => Promise<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new BlobStoreError(what, place, `no answer in ${ANSWER_MS / 1_000} s.`));
    }, ANSWER_MS);
  });
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    if (isOwn(error)) throw error;
    throw Object.assign(new BlobStoreError(what, place, errorText(error)), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function isOwn(error: unknown): boolean {
  return [BlobMissingError, BlobDamagedError, BlobTooLargeError, BlobStoreError].some(
    (type) => error instanceof type,
  );
}
