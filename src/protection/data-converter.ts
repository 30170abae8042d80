/**
 * How a process writes and reads payloads: the one place that makes the data converters of clients,
 * workers, commands and replays.
 *
 * The SDK takes the converters of a worker only as the path of a module that it loads by `require`,
 * which cannot load TypeScript. So this file registers them as such a module, under its own path.
 * The workflow thread takes them from the bundle.
 */
import type { DataConverter, LoadedDataConverter } from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter, wellFormedPayloads } from '../workflows/converters.ts';
import type { Protection } from './protection.ts';

/** The converters as the SDK takes them for a client. */
export function clientConverter(protection: Protection): LoadedDataConverter {
  return {
    payloadConverter: wellFormedPayloads,
    failureConverter,
    payloadCodecs: codecsOf(protection),
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
  };
}

function codecsOf({ codec }: Protection): NonNullable<DataConverter['payloadCodecs']> {
  return codec === undefined ? [] : [codec];
}
