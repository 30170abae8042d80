/** Two runs side by side, from the end of what they share. */
import type { ForkInput } from '../../../core/base/fork.ts';
import type { AgentInput } from '../../../core/contract/input.ts';
import type { DiffCall, DiffSide, RunDiff } from '../../../client/forks/run-diff.ts';
import { moneyText, numberText } from '../amounts.ts';
import { entryRow, type EntryRow } from './moments.ts';

/** A call, its arguments as one line of text. */
export interface DiffCallRow extends Omit<DiffCall, 'args'> {
  readonly args: string;
}

/** One of the runs from there on. */
export interface DiffSideView extends Omit<DiffSide, 'entries' | 'calls' | 'value'> {
  /** The first 100. */
  readonly entries: readonly EntryRow[];
  readonly moreEntries: number;
  /** The first 200. */
  readonly calls: readonly DiffCallRow[];
  readonly moreCalls: number;
  /** The answer as text, cut if it is long; empty: there is none. */
  readonly value: string;
  /** What it was started with that its source was not; empty: it is no fork. */
  readonly changes: readonly DiffChange[];
}

/** One thing that a fork was told. */
export interface DiffChange {
  readonly name: string;
  readonly text: string;
}

/** Two runs. */
export interface DiffView extends Pick<RunDiff, 'from' | 'sharedEntries'> {
  readonly left: DiffSideView;
  readonly right: DiffSideView;
}

/** What of a start makes a fork differ. */
export type ForkStart = Partial<Pick<AgentInput, 'fork' | 'model' | 'limits'>>;

const MAX_ENTRIES = 100;
const MAX_CALLS = 200;
const MAX_ARGS = 300;
const MAX_VALUE = 4_000;

/** The view of `diff`; `starts` are those of its runs, as far as they could be read. */
export function diffView(diff: RunDiff, starts: readonly (ForkStart | undefined)[]): DiffView {
  const { from, sharedEntries, left, right } = diff;
  return {
    from,
    sharedEntries,
    left: sideView(left, changesOf(starts[0])),
    right: sideView(right, changesOf(starts[1])),
  };
}

function sideView(side: DiffSide, changes: readonly DiffChange[]): DiffSideView {
  const { entries, calls, value, ...rest } = side;
  return {
    ...rest,
    entries: entries.slice(0, MAX_ENTRIES).map(entryRow),
    moreEntries: Math.max(0, entries.length - MAX_ENTRIES),
    calls: calls.slice(0, MAX_CALLS).map(({ args, ...call }) => ({
      ...call,
      args: cutText(JSON.stringify(args), MAX_ARGS),
    })),
    moreCalls: Math.max(0, calls.length - MAX_CALLS),
    value:
      value === null
        ? ''
        : cutText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE),
    changes,
  };
}

/** What a fork was told: its edits, instructions, model, limits, definition, and what calls do. */
export function changesOf(start: ForkStart | undefined): readonly DiffChange[] {
  const { fork, model, limits } = start ?? {};
  if (fork === undefined) return [];
  const { edits = [], instructions, definition, effects } = fork;
  const named: readonly (readonly [string, string | undefined])[] = [
    ['Instructions', instructions],
    ['Model', model],
    ['Limits', limits === undefined ? undefined : JSON.stringify(limits)],
    ['Definition', definition === 'current' ? 'that of today' : undefined],
    ['Calls', effects],
  ];
  return [
    ...edits.map(editChange),
    ...named.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }])),
  ].map(({ name, text }) => ({ name, text: cutText(text, MAX_VALUE) }));
}

function editChange(edit: NonNullable<ForkInput['edits']>[number]): DiffChange {
  if ('append' in edit) return { name: 'Said first', text: edit.append };
  if ('drop' in edit) return { name: `Entry ${edit.drop}`, text: 'dropped' };
  return { name: `Entry ${edit.entry}`, text: edit.text };
}

function cutText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** The figures of both runs, row by row: name, left, right. */
export function diffFigures({
  left,
  right,
}: DiffView): readonly (readonly [name: string, left: string, right: string])[] {
  const rows: readonly (readonly [string, (side: DiffSideView) => string])[] = [
    ['Ended', ({ status, reason }) => (reason === null ? status : `${status}, ${reason}`)],
    ['Models', ({ models }) => models.join(', ') || 'none'],
    ['Iterations', ({ iterations }) => numberText(iterations)],
    ['Calls', ({ calls, moreCalls }) => numberText(calls.length + moreCalls)],
    ['Tokens', ({ usage }) => numberText(usage.totalTokens)],
    ['Cost', ({ usage }) => moneyText(usage.costMicroUsd)],
    ['Answer', ({ value }) => value],
  ];
  return rows.map(([name, of]) => [name, of(left), of(right)]);
}
