/**
 * What the paths of a codec server do with payloads.
 *
 * I1  A payload that this process cannot open stays as it is: one of another codec, one whose key is
 *     missing, one that is damaged, a reference to a blob that is gone. The others are opened.
 * I2  A key service or a blob store that does not answer is a failure, which clients repeat.
 * I3  What is opened is bounded, because a few bytes may be decompressed to many: the bound ends the
 *     request at once. Between payloads other requests have their turn.
 */
import { setImmediate } from 'node:timers/promises';
import { StorageDriverClaim, type Payload } from '@temporalio/common';
import {
  decodeReferencePayload,
  isReferencePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import { errorText } from '../core/base/error-text.ts';
import { BlobDamagedError, BlobMissingError } from '../protection/blobs/blob-errors.ts';
import { keyIdOf } from '../protection/codec.ts';
import { KeyMissingError, PayloadDamagedError } from '../protection/key-errors.ts';
import type { Protection } from '../protection/protection.ts';
import type { HeldBytes } from './held-bytes.ts';
import { MAX_OPENED_BYTES, TOO_MUCH, type LargeOpening } from './large-opening.ts';
import { RefusedRequest, toWire, type ReceivedPayload } from './wire.ts';

/** How long the blobs of one request may take, in ms. */
const BLOBS_MS = 60_000;

/** What a path does. */
export type Transform = (
  protection: Protection,
  received: readonly ReceivedPayload[],
  options: TransformOptions,
) => Promise<readonly object[]>;

/** Options of a request. */
export interface TransformOptions {
  /** Leaves references to blobs as they are, as the web UI asks. */
  readonly keepsReferences: boolean;
  /** Decompresses for this request. */
  readonly opening: LargeOpening;
  /** What the request holds. */
  readonly held: HeldBytes;
}

/**
 * Encrypts for no run in particular, so with the current key. Nothing goes to the blob store: no run
 * would own it, and it would never be deleted.
 */
export const encode: Transform = async ({ codec }, received) => {
  const payloads = received.map(({ payload }) => payload);
  const encoded = await codec.encode(payloads).catch((error: unknown) => {
    throw refusalOf(error);
  });
  return encoded.map(toWire);
};

/** Decrypts, and reads blobs unless references are to stay. */
export const decode: Transform = async (protection, received, options) => {
  const open = opener(protection, options);
  const answers: object[] = [];
  for (const { given, payload } of received) {
    const isLeft = options.keepsReferences && isReferencePayload(payload);
    const opened = isLeft ? payload : await open(payload).catch((error) => unless(error, payload));
    answers.push(opened === payload ? given : toWire(opened));
  }
  return answers;
};

/** `payload`, unless the failure is none of the payload itself. */
function unless(error: unknown, payload: Payload): Payload {
  const refused = refusalOf(error);
  if (refused.status !== LEFT_AS_IT_IS) throw refused;
  return payload;
}

/** Reads blobs and decrypts them. */
export const download: Transform = async (protection, received, options) => {
  if (!received.every(({ payload }) => isReferencePayload(payload))) {
    throw new RefusedRequest(400, 'Expected references to external storage, got other payloads.');
  }
  const open = opener(protection, options);
  const answers: object[] = [];
  for (const { payload } of received) {
    const opened = await open(payload).catch((error: unknown) => Promise.reject(refusalOf(error)));
    answers.push(toWire(opened));
  }
  return answers;
};

/** Opens payloads one after the other; returns a payload that is not ours as it is. */
function opener(
  { readerCodec, blobs }: Protection,
  { opening, held }: TransformOptions,
): (payload: Payload) => Promise<Payload> {
  const abortSignal = AbortSignal.timeout(BLOBS_MS);
  let left = MAX_OPENED_BYTES;
  const codec = readerCodec((packed) => opening.unpack(packed, left));
  const counted = (payload: Payload | undefined): Payload => {
    const bytes = payload?.data?.length ?? 0;
    left -= bytes;
    if (payload === undefined || left < 0) throw new RefusedRequest(413, TOO_MUCH);
    held.take(bytes);
    return payload;
  };
  const blobOf = async (payload: Payload): Promise<Payload> => {
    const { driverName, claimData } = referenceOf(payload);
    if (blobs === undefined || blobs.driver.name !== driverName) {
      throw new RefusedRequest(422, 'Expected the blob store of this payload. Set EVERLOOP_BLOBS.');
    }
    const claim = new StorageDriverClaim(claimData);
    const [blob] = await blobs.driver.retrieve({ abortSignal }, [claim]);
    return counted(blob);
  };
  return async (payload) => {
    await setImmediate();
    const whole = isReferencePayload(payload) ? await blobOf(payload) : payload;
    if (keyIdOf(whole) === undefined) return whole;
    const [plain] = await codec.decode([whole]);
    return counted(plain);
  };
}

function referenceOf(payload: Payload): ReturnType<typeof decodeReferencePayload> {
  try {
    return decodeReferencePayload(payload);
  } catch {
    throw new RefusedRequest(422, 'Expected a reference to external storage, got an invalid one.');
  }
}

/** The status for a key service or a blob store that failed. */
const FAILED = 502;

/** The status for a payload that this process cannot open. */
const LEFT_AS_IT_IS = 422;

const OWN_ERRORS = [KeyMissingError, PayloadDamagedError, BlobMissingError, BlobDamagedError];

function refusalOf(error: unknown): RefusedRequest {
  if (error instanceof RefusedRequest) return error;
  const isOwn = OWN_ERRORS.some((type) => error instanceof type);
  return new RefusedRequest(isOwn ? LEFT_AS_IT_IS : FAILED, errorText(error));
}
