/** A program as text: each of its forms, and what it waits for. Pure. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import type { ProgramSummary } from '../../client/programs.ts';
import type { ProgramView } from '../../core/contract/report.ts';
import type { EffectStatus, ProgramStatus } from '../../lisp.ts';
import { durationText, oneLine, pluralText, tableText, terminalText } from '../terminal/text.ts';

/** Characters of a form and of its value; both should fit on a line of a terminal. */
const FORM_WIDTH = 56;
const VALUE_WIDTH = 40;

/** The program form by form, then its open effects, then how it ended. */
export function programText(view: ProgramView): string {
  const { status, error } = view;
  return [
    headText(view),
    ...(status === undefined
      ? sourceText(view)
      : [formsText(view.source, status), ...effectsText(status)]),
    ...(error === undefined ? [] : [error.message]),
  ].join('\n\n');
}

/** All programs of a run, a line each. */
export function programsText(programs: readonly ProgramSummary[]): string {
  if (programs.length === 0) return 'The run has not run a program.';
  return tableText(
    ['PROGRAM', 'BEGAN', 'TOOK', 'OUTCOME', 'FUEL', 'CALLS'],
    programs.map(({ programId, since, endedAt, outcome, fuel, calls }) => [
      programId,
      timeText(since),
      endedAt === null ? '' : durationText(endedAt - since),
      outcome ?? 'runs',
      withCommas(fuel),
      withCommas(calls),
    ]),
  );
}

/** `program 1.p · waiting · 1,204 of 1,000,000 units of fuel · 12 effects done, 1 failed` */
function headText({ programId, outcome, status, error }: ProgramView): string {
  const { state = 'failed', fuelUsed = 0, fuelLimit = 0, counts } = status ?? {};
  const { done = 0, failed = 0 } = counts ?? {};
  const fuel = `${withCommas(fuelUsed)} of ${withCommas(fuelLimit)} units of fuel`;
  const failures = failed === 0 ? '' : `, ${withCommas(failed)} failed`;
  return [
    `program ${programId}`,
    outcome ?? state,
    ...(status === undefined ? [] : [fuel]),
    ...(status === undefined && error !== undefined ? ['not started'] : []),
    ...(done + failed === 0 ? [] : [`${pluralText(done, 'effect')} done${failures}`]),
  ].join(' · ');
}

/** The source of a program whose forms are not known; an error shows the part that it is about. */
function sourceText({ source, error, isCut }: ProgramView): readonly string[] {
  if (error !== undefined) return [];
  const rest = isCut === true ? '\nThe run no longer has the rest.' : '';
  return [`${terminalText(source)}${rest}`];
}

function formsText(source: string, { forms }: ProgramStatus): string {
  const rows = forms.map((form) => [
    form.state,
    String(form.span.line),
    oneLine(source.slice(form.span.start, form.span.end), FORM_WIDTH),
    oneLine(form.preview ?? '', VALUE_WIDTH),
  ]);
  return tableText(['STATE', 'LINE', 'FORM', 'VALUE'], rows);
}

/** The open effects, and those that wait for their turn. */
function effectsText({ effects, counts }: ProgramStatus): readonly string[] {
  const open = effects.filter(({ state }) => state === 'waiting' || state === 'pending');
  if (open.length === 0) return [];
  const rows = open.map((effect) => [
    effect.id,
    effect.state === 'waiting' ? timeText(effect.since) : 'not begun',
    String(effect.span.line),
    whatText(effect),
  ]);
  const more = counts.waiting + counts.pending - open.length;
  const table = tableText(['EFFECT', 'SINCE', 'LINE', 'WHAT'], rows);
  return [more === 0 ? table : `${table}\nand ${withCommas(more)} more`];
}

/** `search {"query":"a"}`, `ask Which John?`, `sleep until 2026-03-10 09:00:01` */
function whatText({ kind, name, text = '', until }: EffectStatus): string {
  if (kind === 'sleep') return until === undefined ? 'sleep' : `sleep until ${timeText(until)}`;
  const end = until === undefined ? '' : `, until ${timeText(until)}`;
  return `${name} ${oneLine(text, FORM_WIDTH)}${end}`;
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}
