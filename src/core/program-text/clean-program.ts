/**
 * Cleans the source of a program from what models and editors insert: invisible characters, special
 * blanks, typographic quotes. Strings in the program are unchanged.
 */
import { withLineFeeds } from '../text/line-breaks.ts';

/**
 * `source` with line feeds. Outside of strings, zero-width characters, byte order marks and soft
 * hyphens are removed, no-break spaces become spaces, and curly single quotes straight ones. A
 * curly double quote opens a string, which the next double quote of either kind closes.
 */
export function cleanProgram(source: string): string {
  return withLineFeeds(source).replaceAll(TOKEN, (token, opened: string | undefined) => {
    if (opened !== undefined) return `"${opened}"`;
    if (token.length > 1) return token;
    return PLAIN[token] ?? token;
  });
}

/**
 * Units: a string, a comment, a character literal, a string in curly quotes (its content is the
 * group), then single characters. Exactly one alternative matches, so the cost is linear.
 */
const TOKEN =
  /"(?:[^"\\]|\\[^])*"?|;[^\n]*|\\[^]|[“”„‟]((?:[^"“”„‟\\]|\\[^])*)["“”„‟]|[“”„‟\u200B-\u200D\u2060\uFEFF\u00AD\u00A0\u2007\u202F‘’‛]/gu;

const PLAIN: { readonly [sign: string]: string } = {
  '\u200B': '',
  '\u200C': '',
  '\u200D': '',
  '\u2060': '',
  '\uFEFF': '',
  '\u00AD': '',
  '\u00A0': ' ',
  '\u2007': ' ',
  '\u202F': ' ',
  '‘': "'",
  '’': "'",
  '‛': "'",
  // Not closed: the reader reports it with its place.
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
};
