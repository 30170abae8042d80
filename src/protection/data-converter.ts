/**
 * How a process writes and reads payloads: the one place that makes the data converters of clients,
 * workers, commands and replays.
 *
 * The SDK takes the converters of a worker only as paths of modules that it loads by `require`,
 * which cannot load TypeScript. So this file registers them as such modules, under the paths of
 * files that exist. The workflow thread takes its converters from the bundle.
 */
import {
  defaultPayloadConverter,
  type DataConverter,
  type LoadedDataConverter,
  type Payload,
  type PayloadCodec,
} from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { wellFormedPayloads } from '../workflows/converters.ts';
import { failureConverter as hiddenFailures } from '../workflows/failure-converter.ts';
import { storedPayloads } from './blobs/stored-payloads.ts';
import type { UnreadError } from './key-errors.ts';
import type { Protection } from './protection.ts';
import { failureConverter, payloadConverter } from './worker-converters.ts';

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

/**
 * The converters as the SDK takes them for a worker or a replay. `onUnread` gets the reason
 * each time that a payload cannot be decrypted.
 */
export function workerConverter(
  protection: Protection,
  onUnread: (error: UnreadError) => void = () => undefined,
): DataConverter {
  const { keys, workerCodec } = protection;
  const open = moduleAt('./worker-converters', { payloadConverter, failureConverter });
  const hidden = moduleAt('../workflows/failure-converter', { failureConverter: hiddenFailures });
  return {
    payloadConverterPath: open,
    failureConverterPath: keys === undefined ? open : hidden,
    ...storageOf(protection, workerCodec(onUnread)),
  };
}

/** `.ts` from the sources, `.js` from the build. */
const EXTENSION = import.meta.url.slice(-3);

/** Registers `exports` as the module of a file beside this one, and returns its path. */
function moduleAt(file: string, exports: object): string {
  const require = createRequire(import.meta.url);
  const path = require.resolve(fileURLToPath(new URL(`${file}${EXTENSION}`, import.meta.url)));
  if (require.cache[path] === undefined) {
    const module = new Module(path);
    module.exports = exports;
    module.loaded = true;
    require.cache[path] = module;
  }
  return path;
}

/** The codec comes first, so a store sees only what is encrypted. */
function storageOf(
  { blobs }: Protection,
  codec: PayloadCodec,
): Pick<LoadedDataConverter, 'payloadCodecs' | 'externalStorage'> {
  if (blobs === undefined) return { payloadCodecs: [codec] };
  const { codec: notes, externalStorage } = storedPayloads(blobs);
  return { payloadCodecs: [codec, notes], externalStorage };
}
