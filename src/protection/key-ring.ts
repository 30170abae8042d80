/** The keys of a namespace, by id. */
import { UsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';

/** The run that a payload belongs to. */
export interface KeyScope {
  readonly namespace: string;
  /** The id of the run; the id of a child begins with that of its parent. */
  readonly workflowId: string;
}

/**
 * Keys that are asked for, of your own key service for example; {@link keyRing} makes one of keys
 * that you hold. Either function may return a promise. What it throws is an error of the call that
 * needs the key: a worker repeats it, and no run fails for it.
 */
export interface KeyRing {
  /**
   * The id of the key that encrypts; called for each message, so answer from memory. `scope` is
   * absent where a payload belongs to no run, as in a schedule.
   */
  current(scope?: KeyScope): string | Promise<string>;
  /**
   * The 32 bytes of the key with this id; undefined if there is none. Answers are kept for five
   * minutes, and each key is asked for once at a time.
   */
  find(id: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** The ids that it has, which errors name. Absent: they name none. */
  readonly ids?: readonly string[];
}

/** Options of {@link keyRing}. */
export interface KeyRingOptions {
  /** The id of the key that encrypts. */
  readonly current: string;
  /** All keys that decrypt, each of 32 random bytes, by id. */
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

/** AES-256. */
export const KEY_BYTES = 32;

/** Ids stand beside each payload, and in lists that are separated by commas. */
const KEY_ID = /^[\w.:@/+-]{1,128}$/;

/** What ids of keys look like, in words. */
export const KEY_ID_FORM = '1 to 128 letters, digits or `_.:@/+-`';

/** Whether `id` may name a key. */
export function isKeyId(id: unknown): id is string {
  return typeof id === 'string' && KEY_ID.test(id);
}

/**
 * A key ring of keys that this process holds.
 *
 * @throws UsageError `protection` for a key that is not 32 bytes, an id that is not valid, or a
 * `current` without a key.
 * @example
 * await connect({ protection: { keys: keyRing({ current: 'k2', keys: { k2, k1 } }) } });
 */
export function keyRing({ current, keys }: KeyRingOptions): KeyRing {
  const held = new Map<string, Uint8Array>();
  for (const [id, bytes] of Object.entries(keys ?? {})) {
    if (!isKeyId(id)) throw invalid(`ids of keys to be ${KEY_ID_FORM}`, shown(id));
    if (!(bytes instanceof Uint8Array) || bytes.length !== KEY_BYTES) {
      const got = bytes instanceof Uint8Array ? `${bytes.length} bytes` : 'another value';
      throw invalid(`key \`${id}\` to be a Uint8Array of ${KEY_BYTES} bytes`, got);
    }
    held.set(id, Uint8Array.from(bytes));
  }
  const ids = [...held.keys()];
  if (!held.has(current)) {
    throw invalid(`\`current\` to be the id of a key (${ids.join(', ')})`, shown(current));
  }
  return { current: () => current, find: (id) => held.get(id), ids };
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError('protection', `Expected ${expected}, got ${got}. Correct it.`);
}
