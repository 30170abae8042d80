/**
 * How a process writes and reads payloads: the one place that makes the data converters of clients,
 * workers, commands and replays.
 *
 * The SDK takes the converters of a worker only as the path of a module that it loads by `require`,
 * which cannot load TypeScript. So this file registers them as such a module, under its own path.
 * The workflow thread takes them from the bundle.
 */
import { ExternalStorage, type DataConverter, type LoadedDataConverter } from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter, wellFormedPayloads } from '../workflows/converters.ts';
import { defined } from '../core/base/defined.ts';
import { BLOB_THRESHOLD_BYTES } from './blobs/blob-store.ts';
import type { Protection } from './protection.ts';

/** The converters as the SDK takes them for a client. */
export function clientConverter(protection: Protection): LoadedDataConverter {
  return {
    payloadConverter: wellFormedPayloads,
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
    module.exports = { payloadConverter: wellFormedPayloads, failureConverter };
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
