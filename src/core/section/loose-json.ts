/** JSON as models write it: what leaves one reading is read, and strict JSON is read as it is. */
import { readJson, type JsonReading } from './json-reader.ts';

/**
 * Reads one JSON value, strictly first, then without commas before closing brackets and with line breaks
 * and tabs in strings; the first problem is reported. Never throws.
 */
export function readLoosely(text: string): JsonReading {
  const strict = readJson(text);
  if (strict.kind === 'value') return strict;
  const loose = readJson(tidied(text));
  return loose.kind === 'value' ? loose : strict;
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Strings are matched whole, so a comma inside a string is kept. */
function tidied(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[}\]])/g, (found) =>
    found === ',' ? '' : found.replace(/[\n\r\t]/g, (character) => ESCAPES[character] ?? character),
  );
}
