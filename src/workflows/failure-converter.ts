/**
 * How errors are encoded where there are keys: message, stack and details are a payload, which the
 * codec encrypts. Without a codec they would be base64 in the service's UI, so a worker without keys
 * takes the converter of `converters.ts`, and a bundle of its own.
 */
import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { wellFormedFailures } from './converters.ts';

/** Hides the text of failures in a payload. The bundler finds it by this name. */
export const failureConverter: FailureConverter = wellFormedFailures(
  new DefaultFailureConverter({ encodeCommonAttributes: true }),
);
