/**
 * Notes, and JSON text.
 */
import { withCommas } from '../../base/with-commas.ts';
import { checkCount, type Context } from '../../value/context.ts';
import { jsonText, parseJsonText } from '../../json/json-text.ts';
import { cutText, readable, textOf } from '../../value/print.ts';
import type { Value, BuiltinWork } from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { arg, expectText } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';

const NOTE_COST = 5;

/** Writes a note. A long note is cut; notes over the limit are only counted. */
export function note(ctx: Context, text: string): void {
  ctx.charge(NOTE_COST + (text.length >>> 4));
  if (ctx.noteCount >= ctx.limits.notes) {
    ctx.records.droppedNotes += 1;
    return;
  }
  ctx.noteCount += 1;
  const { noteChars } = ctx.limits;
  const whole = text.length <= noteChars;
  ctx.records.notes.push(
    whole ? text : `${cutText(text, noteChars)}… (${withCommas(text.length)} chars)`,
  );
}

function printed(ctx: Context, args: readonly Value[], raw: boolean): string {
  const max = ctx.limits.textUnits;
  const parts = args.map((value) => {
    if (value === null) return 'nil';
    return raw ? textOf(value, ctx, max) : readable(value, ctx, max);
  });
  return parts.join(' ');
}

/** The work of these builtins. */
export const NOTE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  println: plain((ctx, args) => {
    note(ctx, printed(ctx, args, true));
    return null;
  }),
  prn: plain((ctx, args) => {
    note(ctx, printed(ctx, args, false));
    return null;
  }),
  'json/parse-string': plain((ctx, args) => parseJsonText(expectText(ctx, args, 0), ctx) ?? null),
  'json/parse-lines': plain((ctx, args) => {
    const text = expectText(ctx, args, 0);
    ctx.charge(text.length >>> 4);
    const lines = text.split(/\r?\n/);
    checkCount(ctx, lines.length);
    ctx.charge(lines.length);
    const found = lines.filter((line) => line.trim() !== '');
    return vectorOf(found.map((line) => parseJsonText(line, ctx) ?? null));
  }),
  'json/generate-string': plain((ctx, args) => jsonText(arg(args, 0), ctx, ctx.limits.textUnits)),
});
