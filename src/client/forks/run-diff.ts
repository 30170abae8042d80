/** Two runs side by side, from the end of what they have in common. */
import { defined } from '../../core/base/defined.ts';
import { isUsageError, type UsageError } from '../../core/base/usage-error.ts';
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
  /** `live`, the status of its Step, or `unknown`: its Step cannot be read, `reason` says why. */
  readonly status: string;
  /** That of its Step; of an unknown one the code of the error, such as `keys_missing`. */
  readonly reason: string | null;
  /** Why its Step cannot be read, in a sentence; absent: it can, or the run is live. */
  readonly problem?: string;
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
  /** Null for a live run, and for one whose Step cannot be read. */
  readonly step: Step | null;
  /** Why its Step cannot be read. */
  readonly error?: UsageError;
}

/** Reads both runs, and compares them. */
export async function diffRuns(left: RunHandle, right: RunHandle): Promise<RunDiff> {
  return diffOf(await readRun(left), await readRun(right));
}

async function readRun(run: RunHandle): Promise<DiffedRun> {
  const ending = await readEnding(run);
  return { id: run.id, entries: await run.transcript(), events: await run.events(), ...ending };
}

/** The Step, or why it cannot be read: what the run said until then can still be compared. */
async function readEnding(run: RunHandle): Promise<Pick<DiffedRun, 'step' | 'error'>> {
  try {
    return { step: await run.step() };
  } catch (error) {
    if (isUsageError(error)) return { step: null, error };
    throw error;
  }
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
  { id, entries, events, step, error }: DiffedRun,
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
    status: step?.status ?? (error === undefined ? 'live' : 'unknown'),
    reason: step?.reason ?? error?.code ?? null,
    ...defined({ problem: error?.message }),
    value: step?.value ?? null,
  };
}
