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
  type FailureConverter,
  type LoadedDataConverter,
  type Payload,
  type PayloadCodec,
  type PayloadConverter,
} from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter as failures, wellFormedPayloads } from '../workflows/converters.ts';
import { failureConverter as hiddenFailures } from '../workflows/failure-converter.ts';
import { storedPayloads } from './blobs/stored-payloads.ts';
import { keyIdOf } from './codec.ts';
import { KeyMissingError } from './key-errors.ts';
import type { Protection } from './protection.ts';

/**
 * Reads the arguments of activities. What is still encrypted fails the activity as `key_missing`,
 * and the run tries it again on another worker.
 *
 * It has the name that the SDK looks for. A loader that reads ES modules by `require`, as tsx does for
 * an agent file in a project without `"type": "module"`, may have this file in its cache already.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => wellFormedPayloads.toPayload(value, context, hint),
  fromPayload: (payload, context, hint) => {
    const keyId = keyIdOf(payload);
    if (keyId !== undefined) throw new KeyMissingError(keyId, []);
    return wellFormedPayloads.fromPayload(payload, context, hint);
  },
};

/** As {@link payloadConverter}, for a worker without keys. */
export const failureConverter: FailureConverter = failures;

/** The converters as the SDK takes them for a client. */
export function clientConverter(protection: Protection): LoadedDataConverter {
  const { keys, codec } = protection;
  return {
    payloadConverter: wellFormedPayloads,
    failureConverter: keys === undefined ? failures : hiddenFailures,
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
 * The converters as the SDK takes them for a worker or a replay. `onMissing` gets the id of a key
 * each time that one is missing.
 */
export function workerConverter(
  protection: Protection,
  onMissing: (keyId: string) => void = () => undefined,
): DataConverter {
  const { keys, workerCodec } = protection;
  const open = moduleAt('./data-converter', { payloadConverter, failureConverter });
  const hidden = moduleAt('../workflows/failure-converter', { failureConverter: hiddenFailures });
  return {
    payloadConverterPath: open,
    failureConverterPath: keys === undefined ? open : hidden,
    ...storageOf(protection, workerCodec(onMissing)),
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
