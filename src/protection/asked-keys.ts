/**
 * Asks a key ring, which may be a service far away.
 *
 * I1  A key is asked for once at a time, and kept for five minutes; that there is none, for a second.
 * I2  A question that is not answered in time is an error, which a worker repeats.
 * I3  What is kept is bounded: ids of keys come as data.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { KeyMissingError } from './key-errors.ts';
import { isKeyId, KEY_BYTES, type KeyRing, type KeyScope } from './key-ring.ts';

/** A key that was found. */
export interface FoundKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Keys by what they are for. Answers at once where the ring does. */
export interface AskedKeys {
  /** The key that encrypts payloads of `scope`. */
  encrypting(scope: KeyScope | undefined): FoundKey | Promise<FoundKey>;
  /** @throws KeyMissingError if there is no key of this id. */
  decrypting(id: string): FoundKey | Promise<FoundKey>;
}

/** Chooses a tenant's key; undefined: the one that `current` of the ring names. */
export type KeyFor = (scope: KeyScope) => string | undefined;

const KEPT_MS = 300_000;
const ABSENT_MS = 1_000;
const MAX_KEPT = 1_000;

/** As long as a workflow task may take. */
const ANSWER_MS = 10_000;

/** The keys of `ring`, kept for a while. */
export function askKeys(ring: KeyRing, keyFor?: KeyFor): AskedKeys {
  const kept = new LRUCache<string, { readonly found: FoundKey | undefined }>({ max: MAX_KEPT });
  const asked = new Map<string, Promise<FoundKey>>();
  const keep = (id: string, bytes: Uint8Array | undefined): FoundKey => {
    const found = bytes == null ? undefined : foundKey(id, bytes);
    kept.set(id, { found }, { ttl: found === undefined ? ABSENT_MS : KEPT_MS });
    return known(id, found);
  };
  const known = (id: string, found: FoundKey | undefined): FoundKey => {
    if (found === undefined) throw new KeyMissingError(id, ring.ids ?? []);
    return found;
  };
  const decrypting = (id: string): FoundKey | Promise<FoundKey> => {
    if (!isKeyId(id)) throw new KeyMissingError(id, ring.ids ?? []);
    const entry = kept.get(id);
    if (entry !== undefined) return known(id, entry.found);
    const open = asked.get(id);
    if (open !== undefined) return open;
    const bytes = ring.find(id);
    if (!isPromise(bytes)) return keep(id, bytes);
    const answer = inTime(bytes, `key \`${id}\``)
      .then((found) => keep(id, found))
      .finally(() => asked.delete(id));
    asked.set(id, answer);
    return answer;
  };
  return {
    decrypting,
    encrypting: (scope) => {
      const id = (scope && keyFor?.(scope)) ?? ring.current(scope);
      return isPromise(id) ? inTime(id, 'the current key').then(decrypting) : decrypting(id);
    },
  };
}

function foundKey(id: string, bytes: Uint8Array): FoundKey {
  if (bytes.length === KEY_BYTES) return { id, key: createSecretKey(bytes) };
  throw new Error(
    `Expected key \`${id}\` of the key ring to have ${KEY_BYTES} bytes, got ${bytes.length}. Correct \`find\`.`,
  );
}

async function inTime<Value>(answer: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Expected the key ring to find ${what} in ${ANSWER_MS} ms, got no answer.`));
    }, ANSWER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return value instanceof Promise;
}
