/** A run at a glance: one short array per iteration, small enough for thousands of them. */
import { durationText, numberText } from './amounts.ts';
import type { IterationView, ModelCallView } from './iteration-view.ts';

/**
 * Number of the iteration, when it began, its duration (-1 while it runs), calls, flags, tokens of
 * its model calls, and their cost in micro-dollars.
 */
export type OutlineRow = readonly [
  number: number,
  from: number,
  durationMs: number,
  calls: number,
  flags: number,
  tokens: number,
  costMicroUsd: number,
];

/** What is unusual about an iteration, as bits. */
const OUTLINE_FLAGS = {
  failed: 1,
  lost: 2,
  people: 4,
  compaction: 8,
  handover: 16,
  limit: 32,
  program: 64,
  child: 128,
  input: 256,
  problem: 512,
} as const;

/** The outline of `views`. */
export function outlineOf(views: readonly IterationView[]): readonly OutlineRow[] {
  return views.map(rowOf);
}

/** Whether `row` has what `name` says. */
export function hasFlag([, , , , flags]: OutlineRow, name: keyof typeof OUTLINE_FLAGS): boolean {
  return (flags & OUTLINE_FLAGS[name]) !== 0;
}

/** `Iteration 1 204, 1.2 s, 3 calls, lost attempt`. */
export function outlineText(row: OutlineRow): string {
  const [number, , durationMs, calls] = row;
  const names = Object.keys(OUTLINE_FLAGS) as (keyof typeof OUTLINE_FLAGS)[];
  const words = names.filter((name) => hasFlag(row, name)).map((name) => FLAG_WORDS[name]);
  return [
    `Iteration ${numberText(number)}`,
    durationMs < 0 ? 'in progress' : durationText(durationMs),
    `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    ...words,
  ].join(', ');
}

const FLAG_WORDS: Readonly<Record<keyof typeof OUTLINE_FLAGS, string>> = {
  failed: 'failed',
  lost: 'lost attempt',
  people: 'waited for a person',
  compaction: 'compaction',
  handover: 'hand-over',
  limit: 'limit reached',
  program: 'program',
  child: 'child run',
  input: 'input',
  problem: 'unreadable reply',
};

function rowOf(view: IterationView): OutlineRow {
  const { number, from, to, calls, models } = view;
  const tokens = sum(models, ({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0));
  const cost = sum(models, ({ usage }) => usage?.costMicroUsd ?? 0);
  const durationMs = to === undefined ? -1 : to - from;
  return [number, from, durationMs, calls.length, flagsOf(view), tokens, cost];
}

function flagsOf({ calls, models, waits, programs, marks }: IterationView): number {
  const has = (kind: string): boolean => marks.some((mark) => mark.kind === kind);
  const bits: readonly (readonly [keyof typeof OUTLINE_FLAGS, boolean])[] = [
    ['failed', [...calls].some(({ outcome }) => outcome === 'error' || outcome === 'unknown')],
    ['failed', models.some(isFailedCall) || has('error')],
    ['lost', [...calls, ...models].some(({ losses }) => losses > 0)],
    ['people', waits.some(({ kind }) => kind !== 'external')],
    ['compaction', has('compaction')],
    ['handover', has('handover')],
    ['limit', has('limit')],
    ['program', programs.length > 0],
    ['child', calls.some(({ child }) => child !== undefined)],
    ['input', has('input')],
    ['problem', has('problem')],
  ];
  return bits.reduce((flags, [name, holds]) => (holds ? flags | OUTLINE_FLAGS[name] : flags), 0);
}

function isFailedCall({ error, isCanceled }: ModelCallView): boolean {
  return error !== undefined && isCanceled === undefined;
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
