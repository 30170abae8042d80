/**
 * Notes, and JSON text.
 */
import { withCommas } from '../../base/with-commas.ts';
import type { Context } from '../../value/context.ts';
import { checkCount } from '../../value/context.ts';
import { jsonText, parseJsonText } from '../../json/json-text.ts';
import { cutText, readable, textOf } from '../../value/print.ts';
import type { Value, Work } from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { arg, expectText } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';

const NOTE_COST = 5;

/** Writes a note. A long note is cut; notes over the limit are only counted. */
export function note(c: Context, text: string): void {
  c.charge(NOTE_COST + (text.length >>> 4));
  if (c.noteCount >= c.limits.notes) {
    c.records.droppedNotes += 1;
    return;
  }
  c.noteCount += 1;
  const { noteChars } = c.limits;
  const whole = text.length <= noteChars;
  c.records.notes.push(
    whole ? text : `${cutText(text, noteChars)}… (${withCommas(text.length)} chars)`,
  );
}

function printed(c: Context, args: readonly Value[], raw: boolean): string {
  const max = c.limits.textUnits;
  const parts = args.map((value) => {
    if (value === null) return 'nil';
    return raw ? textOf(value, c, max) : readable(value, c, max);
  });
  return parts.join(' ');
}

/** The work of these builtins. */
export const NOTE_WORK: { readonly [name: string]: Work } = Object.freeze({
  println: plain((c, args) => {
    note(c, printed(c, args, true));
    return null;
  }),
  prn: plain((c, args) => {
    note(c, printed(c, args, false));
    return null;
  }),
  'json/parse-string': plain((c, args) => parseJsonText(expectText(c, args, 0), c) ?? null),
  'json/parse-lines': plain((c, args) => {
    const lines = expectText(c, args, 0).split(/\r?\n/);
    checkCount(c, lines.length);
    c.charge(lines.length);
    const found = lines.filter((line) => line.trim() !== '');
    return vectorOf(found.map((line) => parseJsonText(line, c) ?? null));
  }),
  'json/generate-string': plain((c, args) => jsonText(arg(args, 0), c, c.limits.textUnits)),
});
