/** Files with secrets, which only their owner may read. */
import { readFileSync, statSync } from 'node:fs';

/** Others than the owner. */
const NOT_THE_OWNER = 0o077;

/** Far more than a secret has. */
const MAX_FILE_BYTES = 1_048_576;

/** The text of a file, or why it is not taken, as a sentence. */
export type OwnFile = { readonly text: string } | { readonly problem: string };

/** Reads a file that only its owner may read. Throws the system's error when it cannot be read. */
export function readOwnFile(file: string): OwnFile {
  const { mode } = statSync(file);
  if ((mode & NOT_THE_OWNER) !== 0 && process.platform !== 'win32') {
    const got = (mode & 0o777).toString(8);
    return {
      problem: `Expected file \`${file}\` to be readable by its owner only, got mode ${got}. Run: chmod 600 ${file}`,
    };
  }
  return readSmallFile(file);
}

/** Reads a file of at most 1 MB. Throws the system's error when it cannot be read. */
export function readSmallFile(file: string): OwnFile {
  const { size } = statSync(file);
  if (size <= MAX_FILE_BYTES) return { text: readFileSync(file, 'utf8') };
  return {
    problem: `Expected file \`${file}\` to have at most 1 MB, got ${size} bytes. Name another file.`,
  };
}
