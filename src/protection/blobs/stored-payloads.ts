/**
 * Chooses which payloads lie in a store: from 256 KB up all of them, and the arguments and results of
 * calls from the size on that the store takes.
 *
 * A workflow's answers to queries are payloads like others, and a query must leave no blob. The SDK
 * tells a store nothing of what a payload is, but it tells codecs; so a codec notes those of calls.
 */
import { ExternalStorage, type Payload, type PayloadCodec } from '@temporalio/common';
import { BLOB_THRESHOLD_BYTES, type BlobStore } from './blob-store.ts';

/** The storage of a data converter. */
export interface StoredPayloads {
  /** The last codec: it notes the objects that the storage is asked about, and changes none. */
  readonly codec: PayloadCodec;
  readonly externalStorage: ExternalStorage;
}

/** What lies in `blobs`. */
export function storedPayloads({
  driver,
  callBytes = BLOB_THRESHOLD_BYTES,
}: BlobStore): StoredPayloads {
  const ofCalls = new WeakSet<Payload>();
  return {
    codec: {
      encode: async (payloads, context) => {
        // A local call leaves its arguments in no history.
        if (context?.type === 'activity' && !context.isLocal) {
          for (const payload of payloads) ofCalls.add(payload);
        }
        return payloads;
      },
      decode: async (payloads) => payloads,
    },
    externalStorage: new ExternalStorage({
      drivers: [driver],
      payloadSizeThreshold: Math.min(callBytes, BLOB_THRESHOLD_BYTES),
      driverSelector: (_context, payload) =>
        ofCalls.has(payload) || (payload.data?.length ?? 0) >= BLOB_THRESHOLD_BYTES ? driver : null,
    }),
  };
}
