/**
 * Counts the payloads that each key has encrypted in this process. An IV of AES-256-GCM is random, so
 * a key should encrypt no more than 2^32 payloads; half of that is the time for another key.
 */

/** From here on a key should be replaced: 2^31 payloads. */
export const MANY_PAYLOADS = 2_147_483_648;

/** Of more keys than this, the rest is counted together. */
const MAX_KEYS = 200;

/** What stands for the keys beyond {@link MAX_KEYS}. */
const OTHER = 'other';

/** Learns of each addition: the key, how many payloads, and all that it has encrypted by now. */
export type EncryptedListener = (keyId: string, payloads: number, all: number) => void;

/** The counts of a process. */
export interface EncryptedPayloads {
  readonly add: (keyId: string, payloads: number) => void;
  /** Tells `listener` of all that is added from now on. Returns a function that ends this. */
  readonly listen: (listener: EncryptedListener) => () => void;
}

/** Begins to count. */
export function countEncrypted(): EncryptedPayloads {
  const counts = new Map<string, number>();
  const listeners = new Set<EncryptedListener>();
  return {
    add: (id, payloads) => {
      const keyId = counts.has(id) || counts.size < MAX_KEYS ? id : OTHER;
      const all = (counts.get(keyId) ?? 0) + payloads;
      counts.set(keyId, all);
      for (const listener of listeners) listener(keyId, payloads, all);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
