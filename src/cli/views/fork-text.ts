/** Moments, forks and comparisons of runs as text. Pure. */
import { withCommas } from '../../lisp/base/with-commas.ts';
import { textOf } from '../../core/base/message.ts';
import type { Entry } from '../../core/contract/entry.ts';
import { listedCalls } from '../../core/fork/recorded-calls.ts';
import type { StateView } from '../../core/fork/state-view.ts';
import { usageOf } from '../../core/run/step-of.ts';
import type { DiffCall, DiffSide, RunDiff } from '../../client/forks/run-diff.ts';
import {
  cellText,
  spentText,
  fieldsText,
  oneLine,
  tableText,
  usageText,
  valueText,
} from '../terminal/text.ts';

const LINE_WIDTH = 100;

/** A moment, with its conversation if `withTranscript`. */
export function momentText(view: StateView, withTranscript: boolean): string {
  const { run, iteration, event, link, agent, task, entries, stats, limits, callsAfter } = view;
  const fields = fieldsText([
    ['run', run],
    ['moment', `before iteration ${iteration}, after event ${event}, in link ${link}`],
    [
      'agent',
      [agent.name, agent.mode, ...(agent.model === undefined ? [] : [agent.model])].join(', '),
    ],
    ['task', oneLine(task.text, LINE_WIDTH)],
    ['used', usageText(iteration - 1, usageOf(stats))],
    ['limits', limits.map(({ key, max }) => `${key} ${max}`).join(', ') || 'none'],
    ['entries', rangeText(entries)],
    ['calls after', callsAfter.length === 0 ? 'none' : listedCalls(callsAfter)],
  ]);
  return [fields, ...(withTranscript ? entries.map(entryText) : [])].join('\n\n');
}

function rangeText(entries: readonly Entry[]): string {
  const [first] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return 'none';
  return `${entries.length}, from ${first.index} to ${last.index}`;
}

/** An entry with its number, by which edits name it. */
export function entryText(entry: Entry): string {
  const heading = `--- ${entry.index} · iteration ${entry.iteration} · ${entry.origin}`;
  const messages = entry.messages.map((message) => `${message.role}: ${textOf(message)}`);
  return [heading, ...messages].join('\n');
}

/** Two runs side by side: figures, calls, and what each said from their common end on. */
export function diffText({ from, sharedEntries, left, right }: RunDiff): string {
  const rows: readonly (readonly [string, (side: DiffSide) => string])[] = [
    ['models', ({ models }) => models.join(', ') || 'none'],
    ['iterations', ({ iterations }) => String(iterations)],
    ['calls', ({ calls }) => String(calls.length)],
    ['tokens', ({ usage }) => withCommas(usage.totalTokens)],
    ['cost', ({ usage }) => spentText(usage)],
    ['ending', ({ status, reason }) => [status, ...(reason === null ? [] : [reason])].join(', ')],
    ['value', ({ value }) => (value === null ? '' : oneLine(valueText(value), LINE_WIDTH / 2))],
  ];
  return [
    `Equal before iteration ${from}: ${sharedEntries} entries.`,
    tableText(
      ['', left.id, right.id].map(cellText),
      rows.map(([name, of]) => [name, of(left), of(right)]),
    ),
    ...[left, right].map(sideText),
  ].join('\n\n');
}

function sideText({ id, calls, entries, problem }: DiffSide): string {
  return [
    `=== ${id}`,
    ...(problem === undefined ? [] : [`How it ended is not known: ${problem}`]),
    ...calls.map(callText),
    ...entries.map((entry) => `\n${entryText(entry)}`),
  ].join('\n');
}

/** `= 4.1 search {"query":"a"} ok`: `=` for a call that both runs made. */
function callText({ callId, tool, args, outcome, isShared }: DiffCall): string {
  const text = `${callId} ${tool} ${JSON.stringify(args)} ${outcome}`;
  return oneLine(`${isShared ? '=' : '*'} ${text}`, LINE_WIDTH);
}
