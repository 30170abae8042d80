/** Two runs side by side, from the end of what they have in common. */
import { canonicalJson, type Json } from '../../core/base/json.ts';
import type { Entry } from '../../core/contract/entry.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import { EMPTY_STATS } from '../../core/contract/stats.ts';
import type { Step, Usage } from '../../core/contract/step.ts';
import { tally } from '../../core/stats/tally.ts';
import { usageOf } from '../../core/run/step-of.ts';
import type { RunHandle } from '../run-handle.ts';

/** A call of one of the runs. */
export interface DiffCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly outcome: string;
  /** True: the other run made an equal call at the same place. */
  readonly isShared: boolean;
}

/** One of two runs, from the common boundary on. */
export interface DiffSide {
  readonly id: string;
  readonly agent: string;
  /** The models that it asked. */
  readonly models: readonly string[];
  readonly iterations: number;
  readonly entries: readonly Entry[];
  readonly calls: readonly DiffCall[];
  /** What it used from there on. */
  readonly usage: Usage;
  /** `live`, or the status of its Step. */
  readonly status: string;
  readonly reason: string | null;
  readonly value: Json;
}

/** Two runs. */
export interface RunDiff {
  /** The first iteration that they do not share, and how many entries they do. */
  readonly from: number;
  readonly sharedEntries: number;
  readonly left: DiffSide;
  readonly right: DiffSide;
}

/** What is read of a run. */
export interface DiffedRun {
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly events: readonly AgentEvent[];
  /** Null for a live run. */
  readonly step: Step | null;
}

/** Reads both runs, and compares them. */
export async function diffRuns(left: RunHandle, right: RunHandle): Promise<RunDiff> {
  return diffOf(await readRun(left), await readRun(right));
}

async function readRun(run: RunHandle): Promise<DiffedRun> {
  const step = await run.step().catch(() => null);
  return { id: run.id, entries: await run.transcript(), events: await run.events(), step };
}

/** Compares two runs. Entries are equal if all that was said is. */
export function diffOf(left: DiffedRun, right: DiffedRun): RunDiff {
  const sharedEntries = sharedLength(left.entries, right.entries);
  const from = Math.min(fromOf(left, sharedEntries), fromOf(right, sharedEntries));
  const [leftCalls, rightCalls] = [callsFrom(left, from), callsFrom(right, from)];
  return {
    from,
    sharedEntries,
    left: sideOf(left, { from, sharedEntries, calls: leftCalls, others: rightCalls }),
    right: sideOf(right, { from, sharedEntries, calls: rightCalls, others: leftCalls }),
  };
}

function sharedLength(left: readonly Entry[], right: readonly Entry[]): number {
  const end = left.findIndex((entry, at) => {
    const other = right[at];
    return other === undefined || saidIn(entry) !== saidIn(other);
  });
  return end === -1 ? left.length : end;
}

function saidIn({ messages }: Entry): string {
  return canonicalJson(messages as unknown as Json);
}

/** The iteration in which the first entry that is not shared was written. */
function fromOf({ entries }: DiffedRun, shared: number): number {
  const next = entries[shared];
  const last = entries[shared - 1]?.iteration ?? 0;
  // An input between two iterations has the number of the one before.
  return next === undefined
    ? last + 1
    : Math.max(1, next.origin === 'input' ? next.iteration + 1 : next.iteration);
}

type Call = Omit<DiffCall, 'isShared'>;

function callsFrom({ events }: DiffedRun, from: number): readonly Call[] {
  return events.flatMap((event) =>
    event.type === 'agent:tool_call:after' && event.iteration >= from
      ? [{ callId: event.callId, tool: event.tool, args: event.args, outcome: event.outcome }]
      : [],
  );
}

function keyOf({ callId, tool, args }: Call): string {
  return `${callId} ${tool} ${canonicalJson(args)}`;
}

function sideOf(
  { id, entries, events, step }: DiffedRun,
  diff: {
    readonly from: number;
    readonly sharedEntries: number;
    readonly calls: readonly Call[];
    readonly others: readonly Call[];
  },
): DiffSide {
  const { from, sharedEntries, calls, others } = diff;
  const known = new Set(others.map(keyOf));
  const own = events.filter(({ iteration }) => iteration >= from);
  const models = own.flatMap((event) =>
    event.type === 'agent:model_call:before' ? [event.model] : [],
  );
  const begun = own.filter(({ type }) => type === 'agent:iteration:before');
  return {
    id,
    agent: events.at(-1)?.agent ?? '',
    models: [...new Set(models)],
    iterations: begun.length,
    entries: entries.slice(sharedEntries),
    calls: calls.map((call) => ({ ...call, isShared: known.has(keyOf(call)) })),
    usage: usageOf(own.reduce(tally, EMPTY_STATS)),
    status: step?.status ?? 'live',
    reason: step?.reason ?? null,
    value: step?.value ?? null,
  };
}
