/**
 * Writes `src/lisp/regex/unicode-tables.ts`, the general categories for `\p{…}`, from the Unicode
 * data of the running Node: `npx tsx scripts/generate-unicode-tables.ts`.
 *
 * A table is one text. Each range is two numbers: the gap to the range before it, and its length
 * minus one. Numbers are in base 32, five bits a digit. The last digit is one of `0-9a-v`; earlier
 * digits are the 32 characters from `A` on. So numbers need no separators.
 */

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const CATEGORIES = ['L', 'Lu', 'Ll', 'M', 'N', 'Nd', 'P', 'S', 'Z'];
const LAST = '0123456789abcdefghijklmnopqrstuv';
const MORE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&*';

function rangesOf(category: string): number[] {
  const member = new RegExp(`^\\p{${category}}$`, 'u');
  const ranges: number[] = [];
  let start = -1;
  for (let code = 0; code <= 0x110000; code++) {
    const isMember = code <= 0x10ffff && member.test(String.fromCodePoint(code));
    if (isMember && start < 0) start = code;
    if (!isMember && start >= 0) {
      ranges.push(start, code - 1);
      start = -1;
    }
  }
  return ranges;
}

function encodeNumber(value: number): string {
  let text = LAST.charAt(value & 31);
  for (let rest = value >> 5; rest > 0; rest >>= 5) text = MORE.charAt(rest & 31) + text;
  return text;
}

function encodeRanges(ranges: readonly number[]): string {
  let text = '';
  let next = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    const lo = ranges[index] ?? 0;
    const hi = ranges[index + 1] ?? 0;
    text += encodeNumber(lo - next) + encodeNumber(hi - lo);
    next = hi + 1;
  }
  return text;
}

function literal(text: string): string {
  const lines = text.match(/.{1,90}/g) ?? [''];
  if (lines.length === 1) return ` '${text}'`;
  return `\n${lines.map((line) => `    '${line}'`).join(' +\n')}`;
}

const tables = CATEGORIES.map((name) => `  ${name}:${literal(encodeRanges(rangesOf(name)))},`);
const source = `/**
 * General categories of Unicode ${process.versions['unicode']}, written by scripts/generate-unicode-tables.ts,
 * which describes the encoding. \`unicode.ts\` decodes it.
 */

/** A category that has a table. */
export type UnicodeCategory = ${CATEGORIES.map((name) => `'${name}'`).join(' | ')};

/** Category → its ranges, encoded. */
export const UNICODE_TABLES: Readonly<Record<UnicodeCategory, string>> = {
${tables.join('\n')}
};
`;
writeFileSync(
  fileURLToPath(new URL('../src/lisp/regex/unicode-tables.ts', import.meta.url)),
  source,
);
