/**
 * How a worker or a replay writes and reads payloads.
 *
 * The SDK takes the converters of a worker only as paths of modules that it loads by `require`,
 * which cannot load TypeScript. So this file registers them as such modules, under the paths of
 * files that exist. The workflow thread takes its converters from the bundle.
 */
import type { DataConverter } from '@temporalio/common';
import { createRequire, Module } from 'node:module';
import { fileURLToPath } from 'node:url';
import { failureConverter as hiddenFailures } from '../workflows/failure-converter.ts';
import { storageOf } from './data-converter.ts';
import type { UnreadError } from './key-errors.ts';
import type { Protection } from './protection.ts';
import { failureConverter, payloadConverter } from './worker-converters.ts';

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
