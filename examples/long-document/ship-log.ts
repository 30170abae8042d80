/** A document that is too long for one request: the log of a ship, one line for each watch. */

/** How many lines the log has. */
export const LOG_LINES = 1_600;

/** The most lines that one run of the reader reads. */
export const MAX_LINES = 100;

/** Watches with a storm, and the strength of its wind. */
const STORMS: { readonly [line: number]: number } = { 118: 9, 702: 11, 703: 12, 1_333: 10 };

/** Lines `from` to `to` of the log, both included, from 1. */
export function readLog(from: number, to: number): string {
  const first = Math.max(1, from);
  const last = Math.min(LOG_LINES, to);
  const lines = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return lines.map(lineOf).join('\n');
}

function lineOf(line: number): string {
  const storm = STORMS[line];
  const weather = storm === undefined ? `wind ${2 + (line % 5)}` : `storm, wind ${storm}`;
  return `${line}: ${weather}, ${line % 2 === 0 ? 'sails set' : 'under way'}`;
}
