/** Values as people read them: numbers, money, durations, tables. Pure. */
import type { Usage } from '../../core/contract/step.ts';
import type { Json } from '../../core/base/json.ts';
import { withCommas } from '../../lisp/base/with-commas.ts';

/** `1 iteration`, `2 iterations` */
export function pluralText(count: number, noun: string): string {
  return `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `$0.0123` from micro-dollars: four places, so that a cheap call does not read as free. */
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

/** `4 iterations · 440 tokens · $0.0012`: what a run has used so far. */
export function usageText(iterations: number, usage: Usage): string {
  return [
    pluralText(iterations, 'iteration'),
    pluralText(usage.totalTokens, 'token'),
    costText(usage.costMicroUsd),
  ].join(' · ');
}

/** A value on the terminal: text as it is, everything else as JSON with line breaks. */
export function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/**
 * `text` as a terminal may be given it: control characters but line breaks and tabs, and those that
 * turn the direction of text, are written as `\u001B`. What a model wrote could else move the cursor,
 * hide a line that a person decides by, or talk to the terminal.
 */
export function terminalText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `\\u${code}`;
  });
}

const UNSAFE = /(?![\n\t])\p{Cc}|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** One line of at most `width` characters, with `…` for what is cut. */
export function oneLine(text: string, width: number): string {
  const line = terminalText(text.replaceAll(/\s+/g, ' ').trim());
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
}

/** A name, path or address as a cell of a table: one line, however odd. */
export function cellText(text: string): string {
  return oneLine(text, CELL_WIDTH);
}

/** The service takes ids of up to 1,000 bytes. */
const CELL_WIDTH = 1_000;

/**
 * Rows under a heading, columns aligned, two spaces apart; without rows only the heading. The last
 * column is not padded.
 */
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

/** Name and value on a line each, values aligned: `state      running`. */
export function fieldsText(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}
