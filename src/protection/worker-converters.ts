/**
 * The converters of a worker's activities, under the names that the SDK looks for: it takes them as
 * the path of this module. A loader that reads ES modules by `require`, as tsx does for an agent file
 * in a project without `"type": "module"`, may have it in its cache already.
 */
import type { FailureConverter, PayloadConverter } from '@temporalio/common';
import { failureConverter as failures, wellFormedPayloads } from '../workflows/converters.ts';
import { keyIdOf } from './codec.ts';
import { KeyMissingError } from './key-errors.ts';

/**
 * Reads the arguments of activities. What is still encrypted fails the activity as `keys_missing`,
 * and the run tries it again on another worker.
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
