/** What people see of a run while it goes on: its program, and the iteration that is open. */
import { programStatus, restore } from '../../lisp.ts';
import { defined } from '../base/defined.ts';
import { utf8Length, type Json } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { FinishReason, Reply } from '../contract/model.ts';
import type { CallOutcome } from '../contract/outcome.ts';
import type { ProgramView } from '../contract/report.ts';
import type { Turn } from '../contract/turn.ts';
import { cut } from '../text/cut.ts';
import type { RunState } from './run-state.ts';
import { cutInEvent } from './turn-record.ts';

/** A reply whose iteration is open, as the run has it. */
export interface OpenReply {
  readonly iteration: number;
  readonly reply: Reply;
  /** Absent until it is read, and in loops of users. */
  readonly turn?: Turn;
}

/** One call of an open iteration. */
export interface CurrentCall {
  readonly callId: string;
  readonly tool: string;
  /** Cut to 2 KB. */
  readonly args: Json;
  /**
   * `next`: it has not begun · `open`: it is in flight · `waiting`: for a person or outside work ·
   * else how it ended.
   */
  readonly state: 'next' | 'open' | 'waiting' | CallOutcome;
  /** When it began, in milliseconds since 1970; absent in a link that took it over. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Cut to 2 KB. */
  readonly output?: Json;
  readonly error?: string;
  /** Id of the run that it started. */
  readonly child?: string;
}

/** The reply of an open iteration. */
export interface CurrentReply {
  /** Id of the model entry that answered. */
  readonly model: string;
  /** Text and reasoning in order, together cut to 384 KB. */
  readonly parts: readonly { readonly type: 'text' | 'reasoning'; readonly text: string }[];
  readonly isCut?: true;
  readonly finishReason: FinishReason;
  /** How it was read; absent in loops of users. */
  readonly kind?: Turn['kind'];
  /** The program of a reply that has one; cut to 64 KB. */
  readonly program?: string;
}

/** The iteration that is open: what the transcript will have when it ends. */
export interface CurrentIteration {
  readonly iteration: number;
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
  /** Null until a model has answered. */
  readonly reply: CurrentReply | null;
  /** In the order in which they were asked for, or else in which they began; the first 200. */
  readonly calls: readonly CurrentCall[];
  /** How many calls are not shown; absent: none. */
  readonly moreCalls?: number;
}

/** UTF-8 bytes of text and reasoning, and of a program. */
const MAX_REPLY_BYTES = 393_216;
const MAX_PROGRAM_BYTES = 65_536;

/** Each takes up to 6 KB of an answer that may have 2 MB. */
const MAX_CALLS = 200;

/**
 * The iteration of `state` that is open; null between two iterations. `events` are those of this
 * link, `open` the reply that the run has.
 */
export function currentIteration(
  state: RunState,
  events: readonly AgentEvent[],
  open: OpenReply | null,
): CurrentIteration | null {
  const own = eventsOfIteration(events, state.iteration);
  const kept = state.turn ?? null;
  const began = own[0]?.type === 'agent:iteration:before' ? own[0] : undefined;
  const isOver = own.some(({ type }) => type === 'agent:iteration:after');
  if (isOver || (began === undefined && kept === null)) return null;
  const held = open?.iteration === state.iteration ? open : null;
  const reply = held?.reply ?? kept?.reply;
  const calls = callsOf(state, own, askedCalls(held?.turn));
  const more = calls.length - MAX_CALLS;
  return {
    iteration: state.iteration,
    reply: reply === undefined ? null : shownReply(reply, held?.turn),
    calls: calls.slice(0, MAX_CALLS),
    ...defined({ startedAt: began?.at ?? kept?.startedAt, moreCalls: more > 0 ? more : undefined }),
  };
}

/** The events of the newest iteration, from its beginning if that was in this link. */
function eventsOfIteration(
  events: readonly AgentEvent[],
  iteration: number,
): readonly AgentEvent[] {
  let first = events.length;
  while (first > 0 && events[first - 1]?.iteration === iteration) first -= 1;
  return events.slice(first);
}

function askedCalls(turn: Turn | undefined): readonly ToolCall[] {
  if (turn?.kind === 'calls') return turn.calls;
  if (turn?.kind !== 'answer' || turn.attached?.kind !== 'calls') return [];
  return turn.attached.calls;
}

function shownReply({ parts, model, finishReason }: Reply, turn: Turn | undefined): CurrentReply {
  let left = MAX_REPLY_BYTES;
  let isCut = false;
  const shown = parts.flatMap((part) => {
    if (part.type !== 'text' && part.type !== 'reasoning') return [];
    const text = cut(part.text, Math.max(0, left));
    left -= utf8Length(part.text);
    isCut ||= left < 0;
    return [{ type: part.type, text }];
  });
  const source = turn?.kind === 'program' ? turn.source : undefined;
  const program = source === undefined ? undefined : cut(source, MAX_PROGRAM_BYTES);
  const cutMark = isCut ? (true as const) : undefined;
  return {
    model,
    parts: shown,
    finishReason,
    ...defined({ isCut: cutMark, kind: turn?.kind, program }),
  };
}

/** The calls that were asked for, then those of a program or a loop, with what is known of them. */
function callsOf(
  state: RunState,
  events: readonly AgentEvent[],
  asked: readonly ToolCall[],
): readonly CurrentCall[] {
  const calls = new Map<string, CurrentCall>();
  for (const { callId, tool, args } of asked) {
    calls.set(callId, { callId, tool, args: cutInEvent(args), state: 'next' });
  }
  for (const { call, isError } of state.turn?.calls.results ?? []) {
    const args = cutInEvent(call.args);
    calls.set(call.callId, { ...call, args, state: isError ? 'error' : 'ok' });
  }
  for (const event of events) {
    const call = changedCall(calls, event);
    if (call !== undefined) calls.set(call.callId, call);
  }
  for (const { callId, tool } of state.openCalls ?? []) {
    if (!calls.has(callId)) calls.set(callId, { callId, tool, args: null, state: 'open' });
  }
  for (const { callId } of state.pending ?? []) {
    const call = calls.get(callId);
    if (call !== undefined) calls.set(callId, { ...call, state: 'waiting' });
  }
  return [...calls.values()];
}

function changedCall(
  calls: ReadonlyMap<string, CurrentCall>,
  event: AgentEvent,
): CurrentCall | undefined {
  switch (event.type) {
    case 'agent:approval:requested':
    case 'agent:tool_call:before': {
      const { callId, tool, args, at: startedAt } = event;
      return { startedAt, ...calls.get(callId), callId, tool, args, state: 'open' };
    }
    case 'agent:child:spawn': {
      const { callId, childId: child, childAgent: tool, at: startedAt } = event;
      return { startedAt, tool, args: null, ...calls.get(callId), callId, child, state: 'open' };
    }
    case 'agent:tool_call:after': {
      const { callId, tool, args, outcome: state, at: endedAt, output, error } = event;
      const end = defined({ output, error });
      return { ...calls.get(callId), callId, tool, args, state, endedAt, ...end };
    }
    default:
      return undefined;
  }
}

/**
 * The program that was handed over before its end, else the last that ended; null when there was
 * none.
 */
export function programOfState({
  turn,
  program,
}: Pick<RunState, 'turn' | 'program'>): ProgramView | null {
  const last = program?.last ?? null;
  const kept = turn?.program;
  // The turn stays in the state until its iteration ends, but its program may end earlier.
  if (kept === undefined || kept.programId === last?.programId) return last;
  const { programId, since, snapshot } = kept;
  const source = snapshot.sources[snapshot.program] ?? '';
  return { programId, source, since, status: programStatus(restore(snapshot)) };
}
