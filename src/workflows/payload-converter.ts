/**
 * How payloads become values inside the workflow: as by default, but one that cannot be read is no
 * error. What a client of another kind sent to start or to signal a run is decoded before any code of
 * ours runs, and a plain error there makes Temporal retry the workflow task for ever. So it becomes a
 * text, which fits no message, and is refused like everything else that does not fit.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** Stands for a payload whose encoding or content nobody here can read. */
export const UNREADABLE_PAYLOAD = 'a payload that cannot be read';

/**
 * What the codec writes. A worker without the key must not decide about it: its tasks fail until one
 * that has the key takes them.
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
