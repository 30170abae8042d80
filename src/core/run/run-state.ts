/**
 * The state of a run: one readonly JSON record, and `apply(state, event)` as the only way in which
 * it changes.
 *
 * I1  Plain JSON with a version: it survives any serialisation and is what a hand-over carries.
 * I2  Within an epoch the scratchpad only grows, so a reference to its first n messages stays
 *     valid.
 * I3  `digest` is rolled over the head and the messages of the epoch, message by message: an
 *     iteration costs only its own bytes, however long the conversation is.
 * I4  The first breach stays; raising a limit later does not undo it.
 * I5  What happened before this link of the chain (history, events) is in the logs of earlier
 *     links; the state has only the counts.
 */
import { defined } from '../base/defined.ts';
import type { ProgramMemory } from '../../lisp.ts';
import { EMPTY_COMPACTION, type CompactionState } from '../contract/compaction.ts';
import { snapshotsOf } from '../compaction/trigger.ts';
import { exactSum } from '../base/exact-sum.ts';
import { EMPTY_DIGEST, rollDigest, type Digest } from '../base/digest.ts';
import { canonicalJson, type Json } from '../base/json.ts';
import type { Breach, Limit } from '../contract/limit.ts';
import type { Message, Task } from '../base/message.ts';
import type { OutputStrategy } from '../contract/model.ts';
import { change, EMPTY_STATS, type Stats } from '../contract/stats.ts';
import { changesOf } from '../stats/tally.ts';
import { withEffect, withInput } from '../conversation/records.ts';
import { keepResult, type CachedResult } from '../toolchain/result-cache.ts';
import type { Entry } from '../contract/entry.ts';
import type { ConversationState } from '../contract/conversation.ts';
import type { ForkState } from '../contract/outcome.ts';
import { clip } from '../text/cut.ts';
import { MAX_LAST_TEXT } from './last-text.ts';
import { EXAMPLE_COPIED } from '../termination/copied-example.ts';
import { nextHead } from '../tool-search/discovered.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { inheritedLimits } from '../tree/inherit.ts';
import { changedTree, type TreeCarried, type TreeState } from '../tree/tree-state.ts';
import { isOwnEvent, type AgentEvent } from '../contract/events.ts';
import {
  changedIdle,
  clockChanges,
  goingOn,
  withoutItems,
  type IdleCarried,
  type IdleState,
} from './idle-state.ts';
import type { KeptTurn } from './kept-turn.ts';
import type { TraceInput } from '../base/traceparent.ts';
import {
  withCall,
  withCover,
  withModel,
  withoutCall,
  withoutCover,
  withoutModel,
  nothingInFlight,
  withUnknown,
  type FlightCarried,
  type FlightState,
} from './flight-state.ts';
import type { ProgramState } from '../contract/report.ts';
import type { StepMemory, StepSchedule, StepSource } from '../contract/step.ts';
import { withSources } from '../model/sources.ts';
import { UNUSABLE_REPLY } from '../contract/turn.ts';

/** The transcript of the epoch: the number of messages, and the digest of the head and of them. */
export interface TranscriptMark {
  readonly epoch: number;
  readonly length: number;
  readonly digest: Digest;
}

/** The problem of an answer that no Step can hold. */
export const ANSWER_TOO_LARGE = 'answer_too_large';

/** The state of a run, version 1. */
export interface RunState extends TreeState, IdleState, FlightState {
  readonly v: 1;
  /** One id for the whole chain of a run. */
  readonly runId: string;
  readonly agentPath: string;
  readonly depth: number;
  /** The conversation that the root of the tree is a turn of; absent: none. */
  readonly conversation?: string;
  /** Who started the run or spoke to it last; absent or null: nobody was named. */
  readonly by?: string | null;
  /** What the root of the tree was started with for traces; absent: nothing. */
  readonly trace?: TraceInput;
  /** The schedule that started the run, and when the run was due; absent: none. */
  readonly schedule?: Pick<StepSchedule, 'id' | 'time'>;
  /** What its models named as sources, the first 100; absent until there was one. */
  readonly sources?: readonly StepSource[];
  /** Whose run it is; absent: nobody's in particular. */
  readonly tenant?: string;
  /** True: the ledger of the tenant has given the run its turn, and hears of its end. */
  readonly hasTurn?: true;
  /** What every request needs besides the messages: specification, task, context, history. */
  readonly head: TranscriptHead;
  readonly startedAt: number;
  /** Number of the last event; 0 before the first. */
  readonly seq: number;
  readonly iteration: number;
  /** Number of this link in the chain, from 1. */
  readonly link: number;
  readonly scratchpad: readonly Entry[];
  readonly mark: TranscriptMark;
  /** Number of entries so far, over the whole chain. */
  readonly historyLength: number;
  readonly stats: Stats;
  readonly limits: readonly Limit[];
  readonly breach: Breach | null;
  /** What the triggers of compaction remember. */
  readonly compaction: CompactionState;
  /** The data of the loop, the mode's or a custom one's. */
  readonly data: Json;
  /** Successful results of tools with `cache`, oldest first; absent if there are none. */
  readonly cached?: readonly CachedResult[];
  /** What searches have found of the stubs, as it was when found, oldest first; absent: nothing. */
  readonly found?: readonly ToolSpec[];
  /** The model that a person chose; it is asked before those of the specification. Absent: none. */
  readonly model?: string;
  /** By model: how the output is requested since a provider refused the entry's own way. */
  readonly structuredOutputs?: { readonly [model: string]: OutputStrategy };
  /** The turn in which the link before handed over; null or absent between iterations. */
  readonly turn?: KeptTurn | null;
  /** Whether the last reply had no section at all; absent unless the agent asks for it. */
  readonly hadNoSection?: boolean;
  /** The beginning of the last reply that could not be used; absent if there was none. */
  readonly lastUnusable?: string;
  /** What was wrong with it, where its text does not say it; absent or empty: the text does. */
  readonly lastProblem?: string;
  /** The last call and its streak; absent until there was a call that counts. */
  readonly repeated?: RepeatedCall;
  /** True once the model was told that its answer is too large for a Step. */
  readonly toldSize?: true;
  /** True once the model was told that its answer is the example. */
  readonly toldExample?: true;
  /** What programs left; absent until there was a program, or a memory to begin with. */
  readonly program?: ProgramState;
  /** What a fork keeps of its source; absent: the run is no fork. */
  readonly fork?: ForkState;
  /** What a conversation keeps beside its newest turn, whose state all else is; absent: it is none. */
  readonly turns?: ConversationState;
  /** True once guards have let the task pass. */
  readonly guarded?: true;
}

/** A call with its result, and in how many replies in a row it came. */
export interface RepeatedCall {
  /** Of the call and its result; empty for a call that may be repeated. */
  readonly digest: Digest;
  readonly count: number;
  /** The iteration of the newest reply that counts; absent if none does. */
  readonly iteration?: number;
}

/** What an event adds to the state without publishing it: large bodies stay out of events. */
export interface Carried extends TreeCarried, IdleCarried, FlightCarried {
  /** Appended by `agent:iteration_history:change` and `agent:scratchpad:change`. */
  readonly entry?: Entry;
  /** Replaces the scratchpad and starts a new epoch. */
  readonly scratchpad?: readonly Entry[];
  /** Replaces the data of a custom loop, by `agent:data:change`. */
  readonly data?: Json;
  /** Kept for equal calls, by `agent:tool_call:after`. */
  readonly cached?: CachedResult;
  /** Replaces what searches have found, by `agent:tool_call:after`. */
  readonly found?: readonly ToolSpec[];
  /** The call that ended and its streak, by `agent:tool_call:after`. */
  readonly repeated?: RepeatedCall;
  /** The task that models see, by `agent:guarded`. */
  readonly guarded?: Task;
  /** The turn that is handed over before its end, by `agent:execution:handover`. */
  readonly turn?: KeptTurn;
  /** What a program leaves, by `agent:program:after`. */
  readonly program?: ProgramState;
  /** The call of the source whose result this call gets, by `agent:tool_call:before`. */
  readonly reused?: string;
  /** The state in which a turn of a conversation begins, by `agent:turn:before`. */
  readonly begun?: RunState;
  /** The conversation after its turn, by `agent:turn:after`. */
  readonly turns?: ConversationState;
}

/** The identity of a run: what it has before anything happened. */
export type RunIdentity = Pick<
  RunState,
  | 'runId'
  | 'agentPath'
  | 'depth'
  | 'startedAt'
  | 'parent'
  | 'conversation'
  | 'by'
  | 'trace'
  | 'tenant'
  | 'hasTurn'
  | 'leases'
  | 'schedule'
>;

/** The state of a run in which nothing has happened; `memory` is that of an earlier one. */
export function startState(
  identity: RunIdentity,
  head: TranscriptHead,
  memory?: StepMemory,
): RunState {
  return {
    v: 1,
    ...identity,
    ...defined({ leases: identity.leases ?? identity.parent?.leases }),
    head,
    seq: 0,
    iteration: 0,
    link: 1,
    scratchpad: [],
    mark: { epoch: 1, length: 0, digest: headDigest(head) },
    historyLength: 0,
    stats: EMPTY_STATS,
    limits: inheritedLimits(head.spec.limits, identity.parent),
    breach: null,
    pausedAt: null,
    idleMs: 0,
    compaction: EMPTY_COMPACTION,
    data: null,
    ...defined({
      program:
        memory !== undefined && 'v' in memory
          ? { memory: memory as ProgramMemory, notes: [] }
          : undefined,
    }),
  };
}

/** The digest of a transcript without messages. Linear in the head. */
export function headDigest(head: TranscriptHead): Digest {
  return rollDigest(EMPTY_DIGEST, canonicalJson(head as unknown as Json));
}

/** `digest` rolled over `messages`, one by one. */
export function messagesDigest(digest: Digest, messages: readonly Message[]): Digest {
  return messages.reduce(
    (rolled, message) => rollDigest(rolled, canonicalJson(message as unknown as Json)),
    digest,
  );
}

/** The messages of the epoch, in order: what a request shows of the conversation. */
export function scratchpadMessages(state: RunState): readonly Message[] {
  return state.scratchpad.flatMap((entry) => entry.messages);
}

/** The messages of the epoch from index `from` on. Linear in what it returns, not in the epoch. */
export function newMessages(state: RunState, from: number): readonly Message[] {
  let first = state.scratchpad.length;
  let index = state.mark.length;
  while (index > from && first > 0) {
    first -= 1;
    index -= state.scratchpad[first]?.messages.length ?? 0;
  }
  const messages = state.scratchpad.slice(first).flatMap((entry) => entry.messages);
  return index === from ? messages : messages.slice(from - index);
}

/** The state after `event`. Pure: equal state, event and body give equal state. */
export function apply(before: RunState, event: AgentEvent, carried: Carried = {}): RunState {
  const state = carried.begun ?? before;
  const fields = changedFields(state, event, carried);
  const changes = [...changesOf(state.stats, event), ...clocksOf(state, fields, event.at)];
  const stats = change(state.stats, changes);
  // One copy for each event, of which an iteration has a dozen.
  const after = { ...state, ...fields, seq: event.seq, stats };
  return event.type === 'agent:compaction' ? renewSnapshots(after) : after;
}

/** Between two turns of a conversation the clocks of the run stand. */
function clocksOf(
  state: RunState,
  fields: Partial<RunState>,
  at: number,
): ReturnType<typeof clockChanges> {
  return isBetweenTurns(state) ? [] : clockChanges(state, fields, at);
}

/** Whether the run is a conversation that waits for a message. */
export function isBetweenTurns({ turns }: Pick<RunState, 'turns'>): boolean {
  return turns?.isOpen === false;
}

const NOTHING: Partial<RunState> = {};

/** What `event` changes in the state, apart from its number and the statistics. */
function changedFields(state: RunState, event: AgentEvent, carried: Carried): Partial<RunState> {
  if (isOwnEvent(event)) return NOTHING;
  switch (event.type) {
    case 'agent:execution:handover':
      return defined({ link: event.run + 1, turn: carried.turn });
    case 'agent:iteration:before':
      return { iteration: event.iteration };
    case 'agent:iteration_history:change':
      return { historyLength: event.index + 1 };
    case 'agent:scratchpad:change':
      return changedScratchpad(state, carried);
    case 'agent:data:change':
      return carried.data === undefined ? NOTHING : { data: carried.data };
    case 'agent:model_call:after':
      return {
        ...changedReplyMark(state, event),
        ...withoutModel(state, carried.ordered ?? event.model),
        ...withoutCover(state, carried),
        ...defined({ sources: event.sources && withSources(state.sources ?? [], event.sources) }),
      };
    case 'agent:model_changed':
      return { model: event.model };
    case 'agent:guarded':
      return withGuarded(state, carried);
    case 'agent:structured_output_downgraded':
      return { structuredOutputs: { ...state.structuredOutputs, [event.model]: event.to } };
    case 'agent:iteration:after':
      return {
        ...withoutItems(state, () => true, event.at),
        ...defined({
          turn: state.turn === undefined ? undefined : null,
        }),
        ...nothingInFlight(state),
      };
    case 'agent:program:after':
      return carried.program === undefined ? NOTHING : { program: carried.program };
    case 'agent:model_call:before':
      return {
        ...goingOn(state, event.at),
        ...withModel(state, event.model),
        ...withCover(state, event.seq, carried),
      };
    case 'agent:program:before':
      return goingOn(state, event.at);
    case 'agent:tool_call:before': {
      const { callId, tool } = event;
      return {
        ...goingOn(state, event.at),
        ...withCall(state, { callId, tool }),
        ...withoutRecorded(state, carried),
      };
    }
    case 'agent:question:asked':
    case 'agent:question:answered':
    case 'agent:approval:requested':
    case 'agent:approval:decided':
    case 'agent:approval:revoked':
    case 'agent:external:begun':
    case 'agent:external:ended':
    case 'agent:waiting':
    case 'agent:paused':
    case 'agent:resumed':
      return changedIdle(state, event, carried);
    case 'agent:tool_call:after':
      return {
        ...withoutItems(state, ({ callId }) => callId === event.callId, event.at),
        ...withoutCall(state, event.callId),
        ...(event.outcome === 'unknown' ? withUnknown(state, event) : NOTHING),
        ...defined({ turns: state.turns && withEffectOf(state.turns, state.head, event) }),
        ...defined({
          cached: carried.cached && keepResult(state.cached ?? [], carried.cached),
          repeated: carried.repeated,
          found: carried.found,
        }),
      };
    case 'agent:child:spawn':
    case 'agent:child:report':
    case 'agent:child:granted':
    case 'agent:child:complete':
    case 'agent:lease:asked':
    case 'agent:lease:answered':
    case 'agent:deadlines:changed':
      return changedTree(state, event, carried);
    case 'agent:limit_exceeded': {
      const { limit, key, value, attempted, origin, unreportedBy } = event;
      const breach = defined({ limit, key, value, origin, attempted, unreportedBy });
      return { breach: state.breach ?? breach };
    }
    case 'agent:adjusted':
      return { limits: event.limits };
    case 'agent:turn:before':
      return NOTHING;
    case 'agent:turn:after':
      return defined({ turns: carried.turns });
    case 'agent:input':
      return {
        ...defined({ turns: state.turns && withInput(state.turns, event.inputId) }),
        ...(state.by == null && event.by === undefined ? NOTHING : { by: event.by ?? null }),
        // What a person says may well be to try again.
        ...(state.repeated === undefined ? NOTHING : { repeated: { digest: '', count: 0 } }),
      };
    case 'agent:turn:read':
      return state.hadNoSection === true ? { hadNoSection: false } : NOTHING;
    case 'agent:parse_error':
      return changedByProblems(state, event);
    case 'agent:execution:before':
    case 'agent:execution:after':
    case 'agent:section:read':
    case 'agent:model_attempt_failed':
    case 'agent:validator:called':
    case 'agent:validator:result':
    case 'agent:answer:judged':
    case 'agent:compaction':
    case 'agent:error':
    case 'agent:warning':
      return NOTHING;
  }
}

/** A call that is not only a reading has taken effect, or may have. */
function withEffectOf(
  turns: ConversationState,
  { spec }: TranscriptHead,
  { tool, started }: Extract<AgentEvent, { readonly type: 'agent:tool_call:after' }>,
): ConversationState {
  const tools = [...spec.tools, ...(spec.stubs ?? [])];
  const effect = tools.find(({ name }) => name === tool)?.effect;
  return started && effect !== undefined && effect !== 'read' ? withEffect(turns, tool) : turns;
}

/** What guards have rewritten is another head or another entry, so another epoch of the transcript. */
function withGuarded(state: RunState, { guarded: task, scratchpad }: Carried): Partial<RunState> {
  if (scratchpad !== undefined) {
    return { guarded: true, ...changedScratchpad(state, { scratchpad }) };
  }
  if (task === undefined || task === state.head.task) return { guarded: true };
  const head = { ...state.head, task };
  const { epoch, length } = state.mark;
  const digest = messagesDigest(headDigest(head), scratchpadMessages(state));
  return { guarded: true, head, mark: { epoch: epoch + 1, length, digest } };
}

/** Each recorded result is used once. */
function withoutRecorded({ fork }: RunState, { reused }: Carried): Partial<RunState> {
  if (fork === undefined || reused === undefined) return NOTHING;
  return {
    fork: { ...fork, recorded: (fork.recorded ?? []).filter(({ callId }) => callId !== reused) },
  };
}

/** What the run remembers of a reply that could not be used. */
function changedByProblems(
  { head: { spec }, lastProblem = '' }: RunState,
  { problems, raw }: Extract<AgentEvent, { readonly type: 'agent:parse_error' }>,
): Partial<RunState> {
  const has = (code: string): boolean => problems.some((problem) => problem.code === code);
  // A text that was written says more than what is wrong with it, unless its provider refused it.
  const isTold = raw.trim() === '' || has(UNUSABLE_REPLY);
  const told = isTold ? clip(problems[0]?.message ?? '', MAX_LAST_TEXT) : '';
  return {
    ...(has(ANSWER_TOO_LARGE) ? { toldSize: true } : NOTHING),
    ...(has(EXAMPLE_COPIED) ? { toldExample: true } : NOTHING),
    ...(spec.react?.onUnparsed === 'answer-after-two' && has('no_sections')
      ? { hadNoSection: true }
      : NOTHING),
    lastUnusable: clip(raw, MAX_LAST_TEXT + 1),
    ...(lastProblem === told ? NOTHING : { lastProblem: told }),
  };
}

function changedScratchpad(state: RunState, { entry, scratchpad }: Carried): Partial<RunState> {
  if (scratchpad !== undefined) {
    const messages = scratchpad.flatMap((kept) => kept.messages);
    const head = nextHead(state.head, scratchpadMessages(state));
    const digest = messagesDigest(headDigest(head), messages);
    const mark = { epoch: state.mark.epoch + 1, length: messages.length, digest };
    return { head, scratchpad, mark };
  }
  if (entry === undefined) return NOTHING;
  const mark = {
    epoch: state.mark.epoch,
    length: state.mark.length + entry.messages.length,
    digest: messagesDigest(state.mark.digest, entry.messages),
  };
  return { scratchpad: [...state.scratchpad, entry], mark };
}

/** Keeps the usage of a reply, if it is known: it shows how large the next request will be. */
function changedReplyMark(
  state: RunState,
  event: Extract<AgentEvent, { readonly type: 'agent:model_call:after' }>,
): Partial<RunState> {
  const { purpose, error, usageKnown, usage, own } = event;
  if (purpose !== 'reply' || own === true || error !== undefined || !usageKnown) return NOTHING;
  const { epoch, length } = state.mark;
  const { inputTokens, outputTokens: output } = usage;
  const lastReply = { epoch, messages: length, tokens: exactSum(inputTokens, output), output };
  return { compaction: { ...state.compaction, lastReply } };
}

/** Triggers compare counters with their values at the last compaction, this event included. */
function renewSnapshots(state: RunState): RunState {
  const triggers = state.head.spec.compaction?.triggers ?? [];
  const snapshots = snapshotsOf(triggers, state.stats);
  return { ...state, compaction: { ...state.compaction, snapshots } };
}
