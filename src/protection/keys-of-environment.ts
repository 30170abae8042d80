/** Reads the keys of `EVERLOOP_KEYS` or of the file that `EVERLOOP_KEYS_FILE` names. */
import { errorText } from '../core/base/error-text.ts';
import { isKeyId, KEY_BYTES, KEY_ID_FORM, keyRing, type KeyRing } from './key-ring.ts';
import { readOwnFile } from './own-file.ts';

/** Environment variables, as `process.env` has them. */
export type KeyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The keys of the environment; undefined if it names none. The first key encrypts, all of them
 * decrypt. Problems go to `report` as whole sentences, which never show a key.
 */
export function keysOfEnvironment(
  env: KeyEnvironment,
  report: (problem: string) => void,
): KeyRing | undefined {
  const text = env['EVERLOOP_KEYS']?.trim() ?? '';
  const file = env['EVERLOOP_KEYS_FILE']?.trim() ?? '';
  if (text !== '' && file !== '') {
    report(
      'Expected one of `EVERLOOP_KEYS` and `EVERLOOP_KEYS_FILE`, got both. Unset one of them.',
    );
    return undefined;
  }
  if (text !== '') return readKeys('`EVERLOOP_KEYS`', text, report);
  if (file === '') return undefined;
  const content = readKeyFile(file, report);
  return content === undefined ? undefined : readKeys(`file \`${file}\``, content, report);
}

function readKeyFile(file: string, report: (problem: string) => void): string | undefined {
  try {
    const read = readOwnFile(file);
    if ('text' in read) return read.text;
    report(read.problem);
  } catch (error) {
    const got = errorText(error);
    report(
      `Expected \`EVERLOOP_KEYS_FILE\` to be a file of keys, got: ${got} Correct or unset it.`,
    );
  }
  return undefined;
}

function readKeys(
  source: string,
  text: string,
  report: (problem: string) => void,
): KeyRing | undefined {
  const keys: Record<string, Uint8Array> = {};
  const ids: string[] = [];
  for (const entry of text.split(/[\s,]+/).filter((item) => item !== '')) {
    const at = entry.indexOf('=');
    const [id, digits] = at < 0 ? ['', ''] : [entry.slice(0, at), entry.slice(at + 1)];
    const bytes = Buffer.from(digits, 'base64');
    const got = entryProblem(id, digits, bytes);
    if (got !== undefined) {
      report(
        `Expected ${source} to be \`id=base64\` of ${KEY_BYTES} bytes, separated by commas, got ${got}. Make a key: everloop keys new`,
      );
      return undefined;
    }
    if (ids.includes(id)) {
      report(`Expected key ids to be unique, got \`${id}\` twice. Name each key once.`);
      return undefined;
    }
    ids.push(id);
    keys[id] = bytes;
  }
  const current = ids[0];
  if (current !== undefined) return keyRing({ current, keys });
  report(`Expected ${source} to have a key, got none. Make a key: everloop keys new`);
  return undefined;
}

/** The text may be a secret in a wrong place, so only a valid id is shown. */
function entryProblem(id: string, digits: string, bytes: Uint8Array): string | undefined {
  if (id === '') return 'an entry without an id';
  if (!isKeyId(id)) return `an id that is not ${KEY_ID_FORM}`;
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(digits)) return `an entry that is not base64 for \`${id}\``;
  if (bytes.length !== KEY_BYTES) return `an entry of ${bytes.length} bytes for \`${id}\``;
  return undefined;
}
