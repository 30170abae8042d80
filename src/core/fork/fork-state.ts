/**
 * The state with which a fork begins. Pure: the same state, edits and identity give the same fork.
 *
 * I1  A fork is a root, also one of a child, unless the loop of an eval starts it.
 * I2  Iterations, entries and events go on from the source, so that ids of calls keep their meaning
 *     and one list shows the whole conversation. Idempotency keys differ, because the run id does.
 * I3  Without edits and with the statistics kept, the same replies give the same messages, calls and
 *     answer as in the source.
 * I4  What was in flight, waited or was not read stays with the source.
 */
import { snapshotsOf } from '../compaction/trigger.ts';
import { defined } from '../base/defined.ts';
import type { ForkEdit, ForkOrigin } from '../base/fork.ts';
import type { ForkState } from '../contract/outcome.ts';
import type { Limit } from '../contract/limit.ts';
import { EMPTY_STATS } from '../contract/stats.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { headDigest, messagesDigest, type RunIdentity, type RunState } from '../run/run-state.ts';
import { totalsOf } from '../tree/child-totals.ts';
import { inheritedLimits } from '../tree/inherit.ts';
import { editEntries } from './edit-entries.ts';
import { keptResults } from './kept-results.ts';

/** What a fork is and how it differs from its source. */
export interface ForkPlan {
  readonly identity: RunIdentity;
  readonly origin: Omit<ForkOrigin, 'iteration'>;
  readonly edits?: readonly ForkEdit[] | undefined;
  /** Replaces the head: another task, specification or model. Default: that of the source. */
  readonly head?: TranscriptHead | undefined;
  /** Default: those of the source. */
  readonly limits?: readonly Limit[] | undefined;
  /** Default `fresh`. */
  readonly stats?: 'fresh' | 'keep' | undefined;
  /** It is a conversation that goes on after its end. Default: a conversation stays with its source. */
  readonly converses?: boolean;
  /** What its calls do. Default: they run. */
  readonly effects?: ForkState['effects'];
  readonly recorded?: ForkState['recorded'];
}

/** The fork with the inputs that it reads first, or what is wrong with the edits. */
export type Forked =
  | { readonly kind: 'forked'; readonly state: RunState; readonly inputs: readonly string[] }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** The state of a fork of a run that was in `source`, at a boundary of iterations. */
export function forkState(source: RunState, plan: ForkPlan): Forked {
  const { identity, origin, head = source.head, edits = [], effects, recorded = [] } = plan;
  const edited = editEntries(source.scratchpad, edits);
  if (edited.kind === 'problems') return edited;
  const { entries, inputs } = edited;
  const isPaid = plan.stats === 'keep' && identity.parent === undefined;
  const fork: ForkState = {
    origin: { ...origin, iteration: source.iteration + 1 },
    events: source.seq,
    entries: source.historyLength,
    ...defined({ kept: isPaid ? totalsOf(source.stats) : undefined }),
    ...defined({ effects, recorded: recorded.length === 0 ? undefined : recorded }),
  };
  const isSame =
    head === source.head &&
    entries.length === source.scratchpad.length &&
    entries.every((entry, at) => entry === source.scratchpad[at]);
  const { cached, turns, guarded, ...kept } =
    plan.stats === 'keep' ? keptOf(source) : withoutTotals(keptOf(source));
  const changes = isSame ? undefined : changedScratchpad(kept, head, entries);
  const state: RunState = {
    ...kept,
    ...identity,
    ...defined({ leases: identity.parent?.leases }),
    head,
    ...defined({ turns: plan.converses === true ? turns : undefined }),
    link: 1,
    ...changes,
    ...defined({ cached: keptResults(cached, source.scratchpad, entries) }),
    limits: inheritedLimits(plan.limits ?? source.limits, identity.parent),
    breach: null,
    pausedAt: null,
    idleMs: 0,
    fork,
    // Guards have not seen another task.
    ...defined({ guarded: head.task.text === source.head.task.text ? guarded : undefined }),
  };
  return { kind: 'forked', state, inputs };
}

/** What a fork takes along: the conversation and what the loop knows, nothing of its tree (I1, I4). */
function keptOf(source: RunState): RunState {
  const {
    parent: _parent,
    leases: _leases,
    leaseAsked: _asked,
    leaseAnswered: _answered,
    deadlinesHeard: _heard,
    children: _children,
    openCalls: _calls,
    openModels: _models,
    covers: _covers,
    pending: _pending,
    settled: _settled,
    standing: _standing,
    waitingSince: _since,
    turn: _turn,
    conversation: _conversation,
    trace: _trace,
    fork: _fork,
    schedule: _schedule,
    hasTurn: _turnOf,
    ...kept
  } = source;
  return kept;
}

/** Counters begin at 0, and so do the triggers that compare them; what a Step would list is gone. */
function withoutTotals({ childEnds: _ends, unknownCalls: _unknown, ...state }: RunState): RunState {
  const triggers = state.head.spec.compaction?.triggers ?? [];
  return {
    ...state,
    stats: EMPTY_STATS,
    compaction: { ...state.compaction, snapshots: snapshotsOf(triggers, EMPTY_STATS) },
  };
}

/** Another conversation is another epoch: its digest is made anew, and its size is not known. */
export function changedScratchpad(
  { mark, compaction }: Pick<RunState, 'mark' | 'compaction'>,
  head: TranscriptHead,
  scratchpad: RunState['scratchpad'],
): Partial<RunState> {
  const messages = scratchpad.flatMap((entry) => entry.messages);
  const digest = messagesDigest(headDigest(head), messages);
  return {
    scratchpad,
    mark: { epoch: mark.epoch + 1, length: messages.length, digest },
    compaction: { ...compaction, lastReply: null },
  };
}
