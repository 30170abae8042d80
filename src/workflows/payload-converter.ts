/**
 * How payloads become values inside the workflow: as elsewhere, except that a payload that cannot
 * be read is not an error. The payload of a start or a signal is decoded before any of our code
 * runs, and a plain error there would make Temporal retry the workflow task forever. So such a
 * payload becomes a value that fits no message, and it is refused.
 */
import type { Payload, PayloadConverter } from '@temporalio/common';
import { DECRYPTED_FIELD, ENCRYPTED, KEY_ID_FIELD, wellFormedPayloads } from './converters.ts';

/** Stands for a payload whose encoding or content cannot be read here. */
export const UNREADABLE_PAYLOAD = 'a payload that cannot be read';

/**
 * Stands for a payload that is still encrypted: this worker has no key. A run whose start is
 * encrypted is left to a worker with the key. A run whose start could be read has no key, so it
 * treats this as any payload that cannot be read.
 */
export class EncryptedPayload {
  /** The id of the key, if the payload names it. */
  readonly keyId: string | undefined;

  constructor(keyId: string | undefined) {
    this.keyId = keyId;
  }

  /** What messages about it show. */
  toJSON(): string {
    return UNREADABLE_PAYLOAD;
  }
}

/** Whether `value` stands for a payload that was not read. */
export function isUnreadable(value: unknown): boolean {
  return value === UNREADABLE_PAYLOAD || value instanceof EncryptedPayload;
}

/**
 * Kept in a global, which each workflow has for itself: whether it has read a payload that was
 * encrypted. Such a run waits for a worker that has all of its keys. Any other run treats what it
 * cannot decrypt as any payload that cannot be read: otherwise a message could hold it for ever.
 */
const HAS_KEYS = '__EVERLOOP_HAS_KEYS__';

/** Fails the task of a run whose worker lacks a key: another worker takes it. */
class KeyMissingHere extends Error {
  override readonly name = 'keys_missing';

  constructor({ keyId = 'of an unknown name' }: EncryptedPayload) {
    super(
      `Refused: a payload is encrypted with key ${keyId}, which this worker does not have. A worker that has it takes the run.`,
    );
  }
}

/** The converter of the workflow bundle; the bundler finds it by this name. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => wellFormedPayloads.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    if (payload.metadata?.[DECRYPTED_FIELD] != null) Reflect.set(globalThis, HAS_KEYS, true);
    try {
      return wellFormedPayloads.fromPayload<T>(payload);
    } catch {
      const isEncrypted = textOf(payload, 'encoding') === ENCRYPTED;
      if (!isEncrypted) return UNREADABLE_PAYLOAD as T;
      const encrypted = new EncryptedPayload(textOf(payload, KEY_ID_FIELD));
      if (Reflect.get(globalThis, HAS_KEYS) === true) throw new KeyMissingHere(encrypted);
      return encrypted as T;
    }
  },
};

function textOf({ metadata }: Payload, name: string): string | undefined {
  const bytes = metadata?.[name];
  return bytes == null ? undefined : String.fromCharCode(...bytes);
}
