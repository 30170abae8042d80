/**
 * Stores of large payloads, and what all of them share: claims, sizes, hashes and deadlines.
 *
 * I1  A blob is named by the hash of its content, which is checked whenever it is read.
 * I2  A claim comes as data. It never leads out of the store, and never to more than
 *     {@link MAX_BLOB_BYTES}.
 * I3  A store that does not answer is an error, which a worker repeats.
 * I4  What the history can hold needs no store: if the store does not take it, the claim has it.
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
  BlobUnreadableError,
} from './blob-errors.ts';
import { digestOf, folderOf, isDigest, isKey } from './blob-names.ts';

/** The largest blob, in bytes: 32 MiB. */
export const MAX_BLOB_BYTES = 33_554_432;

/** Payloads from this size on are always stored; the service refuses messages of 2 MiB. */
export const BLOB_THRESHOLD_BYTES = 262_144;

/** How long a store may take for one call of the SDK, in ms. */
const ANSWER_MS = 60_000;

/**
 * How long it may take for a payload that the history can hold as well, in ms: shorter than the
 * heartbeat of an activity, which has ended its work when its result is stored.
 */
const SMALL_ANSWER_MS = 2_000;

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
  /**
   * Arguments and results of calls are stored from this size on, in bytes; default 262,144, as
   * everything else. A low value keeps histories small, and costs a write for each result.
   */
  readonly callBytes?: number;
  /** For messages: `dir:/var/lib/everloop/blobs`, `s3://bucket/prefix`. */
  readonly place: string;
  /**
   * Writes, reads and removes a probe.
   *
   * @throws UsageError `blob_store` if that does not work.
   */
  probe(): Promise<void>;
  /**
   * Whether no other holder has taken the lease within `ms`: then `holder`, an id, has it from now on.
   * Who holds it renews it by the same call. For work that one process of all does.
   */
  takeLease(ms: number, holder: string): Promise<boolean>;
  /**
   * Notes that the blobs of `namespace` are those of `owner`, an id of the service, unless another is
   * noted. Returns the id that is noted.
   */
  own(namespace: string, owner: string): Promise<string>;
  /** The runs of a namespace that have blobs. */
  runs(namespace: string): AsyncIterable<StoredRun>;
  /** The first bytes of each blob of a namespace, `maxBytes` and one at most. */
  heads(namespace: string, maxBytes: number): AsyncIterable<Uint8Array>;
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
   * Keeps `bytes`, also against a deletion of old blobs that runs at the same time, and returns their
   * key: the folder of the run, and at its end `sha256`. A key always has the same bytes.
   */
  put(blob: NamedBlob): Promise<string>;
  /** The bytes under `key`, at most `maxBytes` and one; undefined if there are none. */
  get(key: string, maxBytes: number): Promise<Uint8Array | undefined>;
}

/** A blob, and what it is named by. */
export interface NamedBlob {
  /** Of the namespace and the run: `default/run-1`. */
  readonly folder: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
  /** The id of the run, for a folder whose name was cut. */
  readonly runId: string | undefined;
}

const message = proto.temporal.api.common.v1.Payload;

/** The driver of the SDK over a store of bytes. */
export function blobDriver(store: BlobBytes): StorageDriver {
  const storeSmall = smallStorer(store);
  return {
    name: store.name,
    type: store.type,
    store: ({ target, abortSignal }, payloads) =>
      answered(store, BlobStoreError, ANSWER_MS, async () => {
        const claims: StorageDriverClaim[] = [];
        for (const payload of payloads) {
          abortSignal?.throwIfAborted();
          const blob = namedBlob(payload, target);
          const isSmall = blob.bytes.length < BLOB_THRESHOLD_BYTES;
          claims.push(isSmall ? await storeSmall(blob) : await storeOne(store, blob));
        }
        return claims;
      }),
    retrieve: ({ abortSignal }, claims) =>
      answered(store, BlobUnreadableError, ANSWER_MS, async () => {
        const payloads: Payload[] = [];
        for (const claim of claims) {
          abortSignal?.throwIfAborted();
          payloads.push(await readOne(store, claim));
        }
        return payloads;
      }),
  };
}

function namedBlob(payload: Payload, target: StorageDriverTargetInfo | undefined): NamedBlob {
  const bytes = message.encode(payload).finish();
  if (bytes.length > MAX_BLOB_BYTES) throw new BlobTooLargeError(bytes.length, MAX_BLOB_BYTES);
  const runId = target?.kind === 'workflow' ? target.id : undefined;
  const folder = `${folderOf(target?.namespace)}/${folderOf(runId)}`;
  return { folder, sha256: digestOf(bytes), bytes, runId };
}

async function storeOne(store: BlobBytes, blob: NamedBlob): Promise<StorageDriverClaim> {
  const key = await store.put(blob);
  const { sha256, bytes } = blob;
  return new StorageDriverClaim({ v: '1', key, sha256, bytes: String(bytes.length) });
}

/**
 * Stores what the history can hold as well (I4). That a store does not take it is a warning, one
 * until it takes something again.
 */
function smallStorer(store: BlobBytes): (blob: NamedBlob) => Promise<StorageDriverClaim> {
  let isDown = false;
  return async (blob) => {
    try {
      const claim = await answered(store, BlobStoreError, SMALL_ANSWER_MS, () =>
        storeOne(store, blob),
      );
      isDown = false;
      return claim;
    } catch (error) {
      const text = `${errorText(error)} Until then, results of calls lie in the history.`;
      if (!isDown) process.emitWarning(text, 'EverloopWarning');
      isDown = true;
      return new StorageDriverClaim({ v: '1', data: Buffer.from(blob.bytes).toString('base64') });
    }
  };
}

async function readOne(store: BlobBytes, { claimData }: StorageDriverClaim): Promise<Payload> {
  const { place } = store;
  const { v, key = '', sha256 = '', bytes: size = '', data } = claimData;
  if (v === '1' && data !== undefined) return message.decode(Buffer.from(data, 'base64'));
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
  Failure: typeof BlobStoreError | typeof BlobUnreadableError,
  withinMs: number,
  work: () => Promise<Value>,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Failure(place, `no answer in ${withinMs / 1_000} s.`));
    }, withinMs);
  });
  try {
    return await Promise.race([work(), late]);
  } catch (error) {
    if (isOwn(error)) throw error;
    throw Object.assign(new Failure(place, errorText(error)), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const OWN_ERRORS = [
  BlobMissingError,
  BlobDamagedError,
  BlobTooLargeError,
  BlobStoreError,
  BlobUnreadableError,
];

function isOwn(error: unknown): boolean {
  return OWN_ERRORS.some((type) => error instanceof type);
}
