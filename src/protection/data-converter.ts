/**
 * How a process that talks with runs writes and reads payloads: the one place that makes the data
 * converters of clients and commands. Those of workers and replays are in `worker-converter.ts`: they
 * are paths of files, and a client is in bundles that have none.
 */
import {
  defaultPayloadConverter,
  type LoadedDataConverter,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import { failureConverter, wellFormedPayloads } from '../workflows/converters.ts';
import { failureConverter as hiddenFailures } from '../workflows/failure-converter.ts';
import { storedPayloads } from './blobs/stored-payloads.ts';
import type { Protection } from './protection.ts';

/** The converters as the SDK takes them for a client. */
export function clientConverter(protection: Protection): LoadedDataConverter {
  const { keys, codec } = protection;
  return {
    payloadConverter: wellFormedPayloads,
    failureConverter: keys === undefined ? failureConverter : hiddenFailures,
    ...storageOf(protection, codec),
  };
}

/** Stands for a value that a tolerant client cannot read. */
export const UNREADABLE_TEXT = '(encrypted)';

/**
 * `converter`, but what it cannot read becomes {@link UNREADABLE_TEXT}: for lists, which must not
 * fail for all runs when one of them has another key.
 */
export function tolerantConverter(converter: LoadedDataConverter): LoadedDataConverter {
  const { payloadConverter: inner, payloadCodecs } = converter;
  const unreadable = defaultPayloadConverter.toPayload(UNREADABLE_TEXT);
  const decodeOne = async (
    payload: Payload,
    context: Parameters<PayloadCodec['decode']>[1],
  ): Promise<Payload> => {
    let decoded = payload;
    for (const codec of payloadCodecs.toReversed()) {
      [decoded = unreadable] = await codec.decode([decoded], context);
    }
    return decoded;
  };
  return {
    ...converter,
    payloadCodecs: [
      {
        encode: async (payloads) => payloads,
        decode: (payloads, context) =>
          Promise.all(
            payloads.map((payload) => decodeOne(payload, context).catch(() => unreadable)),
          ),
      },
    ],
    payloadConverter: {
      toPayload: (value, context, hint) => inner.toPayload(value, context, hint),
      fromPayload: <T>(payload: Payload): T => {
        try {
          return inner.fromPayload<T>(payload);
        } catch {
          return UNREADABLE_TEXT as T;
        }
      },
    },
  };
}

/** The codecs with `codec` first, so that a store sees only what is encrypted. */
export function storageOf(
  { blobs }: Protection,
  codec: PayloadCodec,
): Pick<LoadedDataConverter, 'payloadCodecs' | 'externalStorage'> {
  if (blobs === undefined) return { payloadCodecs: [codec] };
  const { codec: notes, externalStorage } = storedPayloads(blobs);
  return { payloadCodecs: [codec, notes], externalStorage };
}
