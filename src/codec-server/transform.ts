/**
 * What the paths of a codec server do with payloads.
 *
 * I1  A payload that this process cannot open stays as it is: one of another codec, one whose key is
 *     missing, one that is damaged, a reference to a blob that is gone. The others are opened.
 * I2  A key service or a blob store that does not answer is a failure, which clients repeat.
 * I3  What is opened is bounded, because a few bytes may be decompressed to many.
 */
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
import { RefusedRequest, toWire, type ReceivedPayload } from './wire.ts';

/** The most bytes that one answer opens: the largest blob, as it is stored and as it is decrypted. */
const MAX_OPENED_BYTES = 67_108_864;

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
export const decode: Transform = async (protection, received, { keepsReferences }) => {
  const open = opener(protection);
  const answers: object[] = [];
  for (const { given, payload } of received) {
    const isLeft = keepsReferences && isReferencePayload(payload);
    const opened = isLeft ? payload : await open(payload).catch((error) => unless(error, payload));
    answers.push(opened === payload ? given : toWire(opened));
  }
  return answers;
};

/** `payload`, unless the failure is none of the payload itself. */
function unless(error: unknown, payload: Payload): Payload {
  const refused = refusalOf(error);
  if (refused.status === FAILED) throw refused;
  return payload;
}

/** Reads blobs and decrypts them. */
export const download: Transform = async (protection, received) => {
  if (!received.every(({ payload }) => isReferencePayload(payload))) {
    throw new RefusedRequest(400, 'Expected references to external storage, got other payloads.');
  }
  const open = opener(protection);
  const answers: object[] = [];
  for (const { payload } of received) {
    const opened = await open(payload).catch((error: unknown) => Promise.reject(refusalOf(error)));
    answers.push(toWire(opened));
  }
  return answers;
};

/** Opens payloads one after the other; returns a payload that is not ours as it is. */
function opener({ codec, blobs }: Protection): (payload: Payload) => Promise<Payload> {
  const abortSignal = AbortSignal.timeout(BLOBS_MS);
  let left = MAX_OPENED_BYTES;
  const counted = (payload: Payload | undefined): Payload => {
    left -= payload?.data?.length ?? 0;
    if (payload !== undefined && left >= 0) return payload;
    throw new RefusedRequest(413, `Expected at most ${MAX_OPENED_BYTES} bytes once opened.`);
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

const OWN_ERRORS = [KeyMissingError, PayloadDamagedError, BlobMissingError, BlobDamagedError];

function refusalOf(error: unknown): RefusedRequest {
  if (error instanceof RefusedRequest) return error;
  const isOwn = OWN_ERRORS.some((type) => error instanceof type);
  return new RefusedRequest(isOwn ? 422 : FAILED, errorText(error));
}
