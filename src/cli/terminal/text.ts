/** Formats values for people: money, durations, tables. Pure. */
import type { Usage } from '../../core/contract/step.ts';
import type { Json } from '../../core/base/json.ts';
import { withCommas } from '../../lisp/base/with-commas.ts';

/** `1 iteration`, `2 iterations` */
export function pluralText(count: number, noun: string): string {
  return `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `$0.0123` from micro-dollars; four decimal places, so that a cheap call does not look free. */
export function costText(costMicroUsd: number): string {
  const digits = String(Math.round(costMicroUsd / 100)).padStart(5, '0');
  return `$${withCommas(Number(digits.slice(0, -4)))}.${digits.slice(-4)}`;
}

/** `850 ms`, `12.3 s`, `4 min 5 s`, `2 h 3 min`, `3 d 4 h` */
export function durationText(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  const seconds = durationMs / 1_000;
  if (seconds < 60) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  const whole = Math.floor(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400)
    return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
}

/**
 * What calls have cost; tokens that cost nothing had a model without a price. It is at least so much where
 * providers ran tools whose fees are not known.
 */
export function spentText({
  costMicroUsd,
  totalTokens,
  unpricedCalls,
}: Pick<Usage, 'costMicroUsd' | 'totalTokens' | 'unpricedCalls'>): string {
  if (costMicroUsd === 0 && totalTokens > 0) return 'cost unknown';
  return `${unpricedCalls === undefined ? '' : '≥ '}${costText(costMicroUsd)}`;
}

/** `4 iterations · 440 tokens · $0.0012`: the usage of a run. */
export function usageText(iterations: number, usage: Usage): string {
  return [
    pluralText(iterations, 'iteration'),
    pluralText(usage.totalTokens, 'token'),
    spentText(usage),
  ].join(' · ');
}

/** A value for people: text as it is, anything else as indented JSON. */
export function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/**
 * Makes `text` safe for a terminal: control characters, except line breaks and tabs, and characters
 * that change the direction of text are written as `\u001B`. Otherwise the text of a model could
 * move the cursor, hide a line that a person decides by, or send commands to the terminal.
 */
export function terminalText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `\\u${code}`;
  });
}

const UNSAFE = /(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu;

/** One line of at most `width` characters; a cut line ends with `…`. */
export function oneLine(text: string, width: number): string {
  return cutLine(terminalText(text.replaceAll(/\s+/g, ' ').trim()), width);
}

/** `line` with at most `width` characters; a cut line ends with `…`. */
export function cutLine(line: string, width: number): string {
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
}

/** A name, path or address as one cell of a table, on one line. */
export function cellText(text: string): string {
  return oneLine(text, CELL_WIDTH);
}

/** The service takes ids of up to 1,000 bytes. */
const CELL_WIDTH = 1_000;

/** A table with a heading. Columns are aligned, two spaces apart; the last is not padded. */
export function tableText(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [heading, ...rows];
  const widths = heading.map((_title, column) =>
    Math.max(...all.map((row) => Array.from(row[column] ?? '').length)),
  );
  return all.map((row) => rowText(row, widths)).join('\n');
}

function rowText(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) =>
      column === row.length - 1
        ? cell
        : cell + ' '.repeat((widths[column] ?? 0) - Array.from(cell).length),
    )
    .join('  ')
    .trimEnd();
}

/** One line for each field, with aligned values: `state      running`. */
export function fieldsText(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}
