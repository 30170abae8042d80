/**
 * The source of a program as a model typed it, without what editors and models put in by habit: signs
 * that nobody sees, blanks that are none, typographic quotes. Texts inside the program stay as they are.
 */
import { withLineFeeds } from '../text/line-breaks.ts';

/**
 * `source` with line feeds. Outside of strings zero-width characters, byte order marks and soft hyphens
 * go, no-break spaces become spaces, curly single quotes straight ones; a curly double quote opens a
 * string that the next double quote of either kind closes.
 */
export function cleanProgram(source: string): string {
  return withLineFeeds(source).replaceAll(TOKEN, (token, opened: string | undefined) => {
    if (opened !== undefined) return `"${opened}"`;
    if (token.length > 1) return token;
    return PLAIN[token] ?? token;
  });
}

/**
 * What is looked at as a whole: a string, a comment, a character literal, a string between curly quotes
 * (with its content as the group), then single signs. One alternative each, so the cost is linear.
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
  // Nothing closes it: the reader says so, with its place.
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
};
