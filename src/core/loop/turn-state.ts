/**
 * Turns of a conversation, as changes of the state of its run. Pure.
 *
 * I1  The state outside `turns` is that of the newest turn: its statistics, its limits, its
 *     breach. So the loop runs a turn as it runs any other run.
 * I2  Iterations, entries and events go on over all turns, so that ids of calls keep their meaning.
 */
import { defined } from '../base/defined.ts';
import { snapshotsOf } from '../compaction/trigger.ts';
import type { TurnRecord } from '../contract/conversation.ts';
import type { Entry } from '../contract/entry.ts';
import type { Lease } from '../contract/lease.ts';
import type { Limit } from '../contract/limit.ts';
import { EMPTY_STATS } from '../contract/stats.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { changedScratchpad } from '../fork/fork-state.ts';
import type { RunState } from '../run/run-state.ts';
import { boundedRecords, recordText } from '../conversation/records.ts';

/** What is known of a turn before it begins. */
export interface TurnPlan {
  readonly messageId: string;
  readonly by?: string | undefined;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Replaces the head of the transcript; absent: the definition is as it was. */
  readonly head?: TranscriptHead | undefined;
  readonly limits: readonly Limit[];
  /** What the ledger of the tenant has granted; absent: nothing. */
  readonly leases?: readonly Lease[] | undefined;
  readonly hasTurn?: true | undefined;
  /** The scratchpad that the turn begins with, if it replaces others. */
  readonly rewound?: Rewound | undefined;
}

/** What a turn begins with that replaces others. */
export interface Rewound {
  /** The first turn that is replaced. */
  readonly from: TurnRecord;
  readonly scratchpad: readonly Entry[];
}

/**
 * The state in which a turn begins, before its first event is applied: what ended turns have used is
 * added up, and all that belongs to a turn begins anew.
 */
export function turnState(state: RunState, plan: TurnPlan): RunState {
  const { turns: conversation } = state;
  if (conversation === undefined) throw new Error('Expected a conversation.');
  const { head = state.head, rewound, at } = plan;
  const scratchpad = rewound?.scratchpad ?? state.scratchpad;
  const isSame = head === state.head && scratchpad === state.scratchpad;
  const record: TurnRecord = {
    number: conversation.count + 1,
    messageId: plan.messageId,
    text: recordText(plan.text),
    startedAt: at,
    seq: state.seq + 1,
    iteration: state.iteration,
    entries: state.historyLength,
    scratchpad: placeOf(scratchpad),
    ...defined({ by: plan.by, isTask: isTaskOf(state, rewound) }),
  };
  const earlier =
    rewound === undefined
      ? conversation.recent
      : conversation.recent.map((turn) =>
          turn.number >= rewound.from.number ? { ...turn, replaced: true as const } : turn,
        );
  return {
    ...keptOf(state),
    head,
    scratchpad,
    ...(isSame ? undefined : changedScratchpad(state, head, scratchpad)),
    startedAt: at,
    stats: EMPTY_STATS,
    limits: plan.limits,
    breach: null,
    pausedAt: state.pausedAt === null ? null : at,
    idleMs: 0,
    ...defined({ by: plan.by, leases: plan.leases, hasTurn: plan.hasTurn }),
    turns: {
      ...conversation,
      count: record.number,
      recent: boundedRecords([...earlier, record]),
      isOpen: true,
      idleSince: null,
    },
  };
}

/**
 * The task of a run is the first message of a conversation that brings no others along, and one that
 * replaces it.
 */
export function isTaskOf(
  { turns, scratchpad }: Pick<RunState, 'turns' | 'scratchpad'>,
  rewound: Rewound | undefined,
): true | undefined {
  if (rewound !== undefined) return rewound.from.isTask;
  return (turns?.count === 0 && scratchpad.length === 0) || undefined;
}

/** What a turn takes over from the one before: the transcript, and what the loop has learned. */
function keptOf(state: RunState): RunState {
  const {
    by: _by,
    leases: _leases,
    hasTurn: _hasTurn,
    children: _children,
    childEnds: _ends,
    openCalls: _calls,
    openModels: _models,
    covers: _covers,
    unknownCalls: _unknown,
    pending: _pending,
    waitingSince: _since,
    turn: _turn,
    sources: _sources,
    cached: _cached,
    model: _model,
    hadNoSection: _section,
    lastUnusable: _unusable,
    lastProblem: _problem,
    repeated: _repeated,
    toldSize: _size,
    toldExample: _example,
    guarded: _guarded,
    ...kept
  } = state;
  const triggers = state.head.spec.compaction?.triggers ?? [];
  const snapshots = snapshotsOf(triggers, EMPTY_STATS);
  return {
    ...kept,
    // What was asked for is not needed any more; numbers of requests go on.
    ...defined({ leaseAnswered: state.leaseAsked }),
    data: null,
    compaction: { ...state.compaction, snapshots },
    ...defined({ program: state.program && { ...state.program, notes: [] } }),
  };
}

function placeOf(scratchpad: readonly Entry[]): TurnRecord['scratchpad'] {
  return [scratchpad.length, scratchpad[0]?.index ?? 0, scratchpad.at(-1)?.index ?? 0];
}

/**
 * The scratchpad as it was before the turn of `record`; null if a compaction has changed it since.
 */
export function scratchpadBefore(
  { scratchpad }: RunState,
  { scratchpad: [count, first, last] }: TurnRecord,
): readonly Entry[] | null {
  const before = scratchpad.slice(0, count);
  const [, nowFirst, nowLast] = placeOf(before);
  return before.length === count && nowFirst === first && nowLast === last ? before : null;
}
