/**
 * Names of the folders and keys of a blob store.
 *
 * I1  Two runs never share a folder, even in a file system that ignores case or reserves names.
 * I2  No name leads out of the store: a folder has only lower-case letters, digits and `%_-~`.
 * I3  A name that {@link runIdOf} cannot turn back into the id of a run is never deleted.
 */
import { createHash } from 'node:crypto';

/** File systems allow 255 bytes; the mark and the hash follow. */
const MAX_NAME_BYTES = 200;
const HASH_DIGITS = 32;

/** Begins the names that no run has, because `~` in an id is encoded. */
const MARK = '~';

/** The folder for payloads of no run. */
const NO_RUN = `${MARK}no-run`;

/** The key of a blob: namespace, folder of the run, digest; in a bucket also the hour before it. */
const KEY = /^[a-z0-9%_~-]{1,233}\/[a-z0-9%_~-]{1,233}\/(?:\d{1,9}\/)?[0-9a-f]{64}$/;

const DIGEST = /^[0-9a-f]{64}$/;

/** `text` with everything but lower-case letters, digits, `_` and `-` as `%` and two digits. */
export function encodeName(text: string): string {
  let name = '';
  for (const byte of Buffer.from(text)) {
    const letter = String.fromCharCode(byte);
    name += /[a-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0')}`;
  }
  return name;
}

/** The folder of a run or a namespace: its encoded id, or the first bytes of that and a hash. */
export function folderOf(id: string | undefined): string {
  if (id === undefined || id === '') return NO_RUN;
  const name = encodeName(id);
  if (name.length <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, MAX_NAME_BYTES)}${MARK}${digestOf(Buffer.from(id)).slice(0, HASH_DIGITS)}`;
}

/** Beside the folder of a namespace: which service its blobs are of. No folder has a dot. */
export function ownerFileOf(namespace: string): string {
  return `${folderOf(namespace)}.owner`;
}

/** Whether a folder name was cut, so that the id must be read from a file. */
export function isCut(folder: string): boolean {
  return !folder.startsWith(MARK) && folder.includes(MARK);
}

/** The id whose folder this is; undefined if the name was cut, or is not one of ours. */
export function runIdOf(folder: string): string | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(folder)) return undefined;
  const bytes = folder.replaceAll(/%([0-9a-f]{2})/g, (_whole, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const id = Buffer.from(bytes, 'latin1').toString();
  return encodeName(id) === folder ? id : undefined;
}

/** Whether a claim may name this key. */
export function isKey(key: string): boolean {
  return KEY.test(key);
}

/** Whether a file of a run's folder is a blob. */
export function isDigest(name: string): boolean {
  return DIGEST.test(name);
}

/** SHA-256 in 64 hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
