/**
 * How payloads become values inside the workflow: as by default, except that a payload that cannot
 * be read is not an error. The payload of a start or a signal is decoded before any of our code
 * runs, and a plain error there would make Temporal retry the workflow task forever. So such a
 * payload becomes a text that fits no message, and the text is refused.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** Stands for a payload whose encoding or content cannot be read here. */
export const UNREADABLE_PAYLOAD = 'a payload that cannot be read';

/**
 * The encoding that the codec writes. A worker without the key must not decide about such a
 * payload: its tasks fail until a worker with the key takes them.
 */
const ENCRYPTED = 'binary/encrypted';

/** The converter of the workflow bundle; the bundler finds it by this name. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      if (String.fromCharCode(...(payload.metadata?.['encoding'] ?? [])) === ENCRYPTED) throw error;
      return UNREADABLE_PAYLOAD as T;
    }
  },
};
