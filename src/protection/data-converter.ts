/**
 * How a process writes and reads payloads: the one place that makes the data converters of clients,
 * workers, commands and replays.
 *
 * The SDK takes the converters of a worker only as the path of a module that it loads by `require`,
 * which cannot load TypeScript. So this file registers them as such a module, under its own path.
 * The workflow thread takes them from the bundle.
 */
import {
  ExternalStorage,
  type DataConverter,
  type FailureConverter,
  type LoadedDataConverter,
  type PayloadConverter,
} from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter as failures, wellFormedPayloads } from '../workflows/converters.ts';
import { defined } from '../core/base/defined.ts';
import { BLOB_THRESHOLD_BYTES } from './blobs/blob-store.ts';
import type { Protection } from './protection.ts';

/**
 * Under the names that the SDK looks for. A loader that reads ES modules by `require`, as tsx does for
 * an agent file in a project without `"type": "module"`, may have this file in its cache already.
 */
export const payloadConverter: PayloadConverter = wellFormedPayloads;
/** As {@link payloadConverter}. */
export const failureConverter: FailureConverter = failures;

/** The converters as the SDK takes them for a client. */
export function clientConverter(protection: Protection): LoadedDataConverter {
  return {
    payloadConverter,
    failureConverter,
    payloadCodecs: codecsOf(protection),
    ...storageOf(protection),
  };
}

/** The converters as the SDK takes them for a worker or a replay. */
export function workerConverter(protection: Protection): DataConverter {
  const require = createRequire(import.meta.url);
  const path = require.resolve(fileURLToPath(import.meta.url));
  if (require.cache[path] === undefined) {
    const module = new Module(path);
    module.exports = { payloadConverter, failureConverter };
    module.loaded = true;
    require.cache[path] = module;
  }
  return {
    payloadConverterPath: path,
    failureConverterPath: path,
    payloadCodecs: codecsOf(protection),
    ...storageOf(protection),
  };
}

function codecsOf({ codec }: Protection): NonNullable<DataConverter['payloadCodecs']> {
  return codec === undefined ? [] : [codec];
}

/** The codec comes first, so a store sees only what is encrypted. */
function storageOf({ blobs }: Protection): Pick<DataConverter, 'externalStorage'> {
  return defined({
    externalStorage:
      blobs === undefined
        ? undefined
        : new ExternalStorage({
            drivers: [blobs.driver],
            payloadSizeThreshold: BLOB_THRESHOLD_BYTES,
          }),
  });
}
