/** Reads the turns of a conversation from its events and entries, which needs no worker. */
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import { textOf } from '../core/base/message.ts';
import type { TurnRecord } from '../core/contract/conversation.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { Step } from '../core/contract/step.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import type { RunHandle } from './run-handle.ts';

/** Which turns to read. */
export interface TurnsOptions {
  /** The number of the first one. Default 0: what was brought along, then the turns from 1. */
  readonly from?: number;
  /** At most this many. */
  readonly limit?: number;
  /** Only the newest ones, so many. */
  readonly last?: number;
}

/** A turn of a conversation. */
export interface ConversationTurn<Value = Json> {
  /** From 1. */
  readonly number: number;
  /** The message that began it. */
  readonly messageId: string;
  /** Who said it; absent: nobody was named. */
  readonly by?: string;
  /** What was said. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The transcript of the turn: its message, calls with arguments and results, the answer. */
  readonly entries: readonly Entry[];
  /** Its events, numbered as those of the conversation. */
  readonly events: readonly AgentEvent[];
  /** Null while it goes on. */
  readonly step: Step<Value> | null;
  /** A later message replaced it: the agent no longer knows it. */
  readonly replaced?: true;
  /**
   * The service has forgotten it, and no archive has it: only the beginning of its text is left, and
   * how it ended.
   */
  readonly expired?: Pick<TurnRecord, 'status' | 'reason' | 'answer' | 'costMicroUsd'>;
}

/** What turns are read from. */
export type TurnsSource = Pick<RunHandle, 'events' | 'status' | 'transcript'>;

/** The turns of the conversation that `run` is. */
export async function readTurns(
  run: TurnsSource,
  { from = 0, limit = Infinity, last }: TurnsOptions = {},
): Promise<readonly ConversationTurn[]> {
  const events = await readable(run);
  const turns = events === null ? [] : turnsIn(events);
  const forgotten = await forgottenTurns(run, turns[0]?.number ?? Infinity);
  const all = [...forgotten, ...turns.map((turn) => ({ ...turn, entries: [] }))];
  const first =
    last === undefined ? all.findIndex(({ number }) => number >= from) : all.length - last;
  if (first === -1) return [];
  const wanted = all.slice(Math.max(0, first), Math.max(0, first) + Math.min(limit, all.length));
  return withEntries(run, wanted);
}

/** The events that are left; null: the service has forgotten some and no archive has them. */
async function readable(run: TurnsSource): Promise<readonly AgentEvent[] | null> {
  try {
    return await run.events();
  } catch (error) {
    if (isUsageError(error) && error.code === 'history_gone') return null;
    throw error;
  }
}

async function forgottenTurns(
  run: TurnsSource,
  before: number,
): Promise<readonly ConversationTurn[]> {
  if (before <= 1) return [];
  const { conversation } = await run.status();
  return (conversation?.recent ?? [])
    .filter(({ number }) => number < before)
    .map((record) => {
      const { number, messageId, by, text, startedAt, replaced } = record;
      const { status, reason, answer, costMicroUsd } = record;
      const base = { number, messageId, text, startedAt, entries: [], events: [], step: null };
      const expired = defined({ status, reason, answer, costMicroUsd });
      return { ...base, ...defined({ by, replaced }), expired };
    });
}

interface ReadTurn extends Omit<ConversationTurn, 'events' | 'entries'> {
  readonly events: AgentEvent[];
  readonly instead?: string;
}

function turnsIn(events: readonly AgentEvent[]): readonly ReadTurn[] {
  const turns: ReadTurn[] = [];
  for (const event of events) {
    if (event.type === 'agent:turn:before') {
      const { turn: number, messageId, by, at: startedAt, instead } = event;
      const opened = { number, messageId, text: '', startedAt, events: [], step: null };
      turns.push({ ...opened, ...defined({ by, instead }) });
    }
    // What the conversation has brought along.
    if (turns.length === 0 && event.type === 'agent:iteration_history:change') {
      const none = { text: '', startedAt: event.at, events: [], step: null };
      turns.push({ number: 0, messageId: '', ...none });
    }
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    if (turn.step === null) turn.events.push(event);
    if (event.type === 'agent:turn:after') turns[turns.length - 1] = { ...turn, step: event.step };
  }
  return withReplaced(turns);
}

/** Each turn that replaces others replaces all between the first of them and itself. */
function withReplaced(turns: readonly ReadTurn[]): readonly ReadTurn[] {
  const places = new Map<string, number>();
  const replaced = new Set<number>();
  for (const [index, { messageId, instead }] of turns.entries()) {
    const first = instead === undefined ? undefined : places.get(instead);
    for (let place = index - 1; first !== undefined && place >= first; place--) replaced.add(place);
    if (!places.has(messageId)) places.set(messageId, index);
  }
  return turns.map((turn, index) => (replaced.has(index) ? { ...turn, replaced: true } : turn));
}

/** The turns with what the transcript has of them. */
async function withEntries(
  run: TurnsSource,
  turns: readonly ConversationTurn[],
): Promise<readonly ConversationTurn[]> {
  const indexes = turns.flatMap(({ events }) => events.flatMap(indexOf));
  const [first] = indexes;
  const lastIndex = indexes.at(-1);
  if (first === undefined || lastIndex === undefined) return turns;
  const entries = await run.transcript({ from: first, limit: lastIndex - first + 1 });
  const byIndex = new Map(entries.map((entry) => [entry.index, entry]));
  return turns.map(({ ...turn }) => {
    const own = turn.events.flatMap(indexOf).flatMap((index) => byIndex.get(index) ?? []);
    const [said] = own[0]?.messages ?? [];
    return { ...turn, entries: own, text: said === undefined ? turn.text : textOf(said) };
  });
}

function indexOf(event: AgentEvent): readonly number[] {
  return event.type === 'agent:iteration_history:change' ? [event.index] : [];
}
