/**
 * How values and errors are encoded: as by default, but with well-formed text. The service refuses
 * a failure with half of a surrogate pair, and the SDK then ends the worker's process. Workflow,
 * worker and client use these converters, so no text leaves any other way.
 */
import {
  DefaultFailureConverter,
  defaultPayloadConverter,
  type FailureConverter,
  type Payload,
  type PayloadConverter,
} from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding.js';
import { wellFormed, wellFormedJson } from '../core/text/well-formed.ts';

/** The encoding of encrypted payloads, by custom of the SDKs. */
export const ENCRYPTED = 'binary/encrypted';

/** Names the key in the metadata of an encrypted payload, by custom of the SDKs. */
export const KEY_ID_FIELD = 'encryption-key-id';

/** In the metadata of a payload that the codec of a worker has decrypted. */
export const DECRYPTED_FIELD = 'everloop-decrypted';

const BACKSLASH = 0x5c;
const SMALL_D = 0x64;
const SMALL_U = 0x75;
const LOWER_CASE = 0x20;

/** Makes the text of payloads well-formed, when they are written and when they are read. */
export const wellFormedPayloads: PayloadConverter = {
  toPayload: (value, context, hint) =>
    mended(defaultPayloadConverter.toPayload(value, context, hint)),
  fromPayload: (payload, context, hint) =>
    defaultPayloadConverter.fromPayload(mended(payload), context, hint),
};

/** Makes the text of failures well-formed. The bundler finds it by this name. */
export const failureConverter: FailureConverter = wellFormedFailures(new DefaultFailureConverter());

/** `converter`, with well-formed text. */
export function wellFormedFailures(converter: FailureConverter): FailureConverter {
  return {
    errorToFailure: (error, payloads, context) =>
      wellFormed(converter.errorToFailure(error, payloads, context)),
    failureToError: (failure, payloads, context) =>
      converter.failureToError(failure, payloads, context),
  };
}

function mended(payload: Payload): Payload {
  const { data } = payload;
  if (data == null || !hasEscapedHalf(data)) return payload;
  const encoding = decode(payload.metadata?.['encoding'] ?? new Uint8Array());
  if (encoding !== 'json/plain') return payload;
  return { ...payload, data: encode(wellFormedJson(decode(data))) };
}

/** Whether the JSON `data` may have an escaped half of a pair, which begins with `\ud`. */
function hasEscapedHalf(data: Uint8Array): boolean {
  for (let at = data.indexOf(BACKSLASH); at !== -1; at = data.indexOf(BACKSLASH, at + 2)) {
    if (data[at + 1] === SMALL_U && ((data[at + 2] ?? 0) | LOWER_CASE) === SMALL_D) return true;
  }
  return false;
}
