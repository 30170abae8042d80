/**
 * The converters of a worker's process. The SDK takes them only as the path of a module that it
 * loads by `require`, which cannot load TypeScript. So this file registers them as such a module,
 * under its own path. The workflow thread takes them from the bundle.
 */
import type { DataConverter } from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter, wellFormedPayloads } from '../../workflows/converters.ts';

/** The converters, as the SDK takes them for a worker. */
export function workerConverter(): DataConverter {
  const require = createRequire(import.meta.url);
  const path = require.resolve(fileURLToPath(import.meta.url));
  if (require.cache[path] === undefined) {
    const module = new Module(path);
    module.exports = { payloadConverter: wellFormedPayloads, failureConverter };
    module.loaded = true;
    require.cache[path] = module;
  }
  return { payloadConverterPath: path, failureConverterPath: path };
}
