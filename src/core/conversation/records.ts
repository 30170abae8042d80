/**
 * What a conversation keeps of its turns. Pure.
 *
 * I1  It is bounded, because it is part of each hand-over: of more turns, the newest are kept.
 */
import { exactSum } from '../base/exact-sum.ts';
import { byteSize, type Json } from '../base/json.ts';
import type {
  ConversationState,
  ConversationView,
  SaidPlace,
  TurnRecord,
} from '../contract/conversation.ts';
import { EMPTY_STATS, type Numbers, type Stats } from '../contract/stats.ts';
import type { Limit } from '../contract/limit.ts';
import type { Step } from '../contract/step.ts';
import { cut } from '../text/cut.ts';

/** How long a conversation waits for a message if nothing else is said: 30 days. */
const DEFAULT_IDLE_MS: number = 30 * 86_400_000;

/** Bytes of JSON that all records of turns may have. */
const MAX_RECORDS_BYTES = 65_536;

/** Bytes of a text in a record. */
const MAX_TEXT_BYTES = 512;

const MAX_INPUTS = 100;

const MAX_EFFECTS = 20;

/** Turns that a status shows. */
const MAX_SHOWN = 20;

/** A conversation in which nothing was said. */
export function newConversation(id: string, idleMs: number = DEFAULT_IDLE_MS): ConversationState {
  const nothing = { count: 0, recent: [], isOpen: false, idleSince: null, ended: EMPTY_STATS };
  return { id, idleMs, ...nothing };
}

/** The conversation after the newest turn has ended with `step`. */
export function afterTurn(
  conversation: ConversationState,
  step: Pick<Step, 'status' | 'reason' | 'value' | 'usage' | 'stats'>,
  at: number,
): ConversationState {
  const { status, reason, value, usage } = step;
  const answer = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const recent = withNewest(conversation, (turn) => ({
    ...turn,
    status,
    reason,
    answer: recordText(answer),
    costMicroUsd: usage.costMicroUsd,
  }));
  const ended = addedStats(conversation.ended, step.stats);
  return { ...conversation, recent: boundedRecords(recent), isOpen: false, idleSince: at, ended };
}

/** The conversation after its turn has read message `id`. */
export function withInput(conversation: ConversationState, id: string): ConversationState {
  return changedNewest(conversation, (turn) => {
    const { inputs = [] } = turn;
    return inputs.length < MAX_INPUTS ? { ...turn, inputs: [...inputs, id] } : turn;
  });
}

/** The conversation after a call of its turn took effect. */
export function withEffect(conversation: ConversationState, tool: string): ConversationState {
  return changedNewest(conversation, (turn) => {
    const { effects = [] } = turn;
    return effects.length < MAX_EFFECTS ? { ...turn, effects: [...effects, tool] } : turn;
  });
}

function changedNewest(
  conversation: ConversationState,
  change: (turn: TurnRecord) => TurnRecord,
): ConversationState {
  if (!conversation.isOpen) return conversation;
  return { ...conversation, recent: withNewest(conversation, change) };
}

function withNewest(
  { recent }: ConversationState,
  change: (turn: TurnRecord) => TurnRecord,
): readonly TurnRecord[] {
  const newest = recent.at(-1);
  return newest === undefined ? recent : [...recent.slice(0, -1), change(newest)];
}

/** The newest of `turns` that there is room for. */
export function boundedRecords(turns: readonly TurnRecord[]): readonly TurnRecord[] {
  let left = MAX_RECORDS_BYTES;
  let first = turns.length;
  while (first > 0) {
    left -= byteSize(turns[first - 1] as unknown as Json);
    if (left < 0 && first < turns.length) break;
    first -= 1;
  }
  return first === 0 ? turns : turns.slice(first);
}

/** Counters add up; of gauges, the newest holds. */
function addedStats(before: Stats, added: Stats): Stats {
  const counters: Record<string, number> = { ...before.counters };
  for (const [key, value] of Object.entries(added.counters)) {
    counters[key] = exactSum(counters[key] ?? 0, value);
  }
  const clock = (key: string): number => exactSum(before.gauges[key] ?? 0, added.gauges[key] ?? 0);
  const gauges: Numbers = {
    ...added.gauges,
    'agent:wall_clock_ms': clock('agent:wall_clock_ms'),
    'agent:active_ms': clock('agent:active_ms'),
  };
  return { counters, gauges };
}

/** What is said of the turns. */
export function viewOfConversation(conversation: ConversationState): ConversationView {
  const { id, count, isOpen, recent } = conversation;
  return { id, count, isOpen, recent: recent.slice(-MAX_SHOWN) };
}

/** The turn that message `id` began, or that has read it; undefined if no kept one has. */
export function turnOfMessage(conversation: ConversationState, id: string): SaidPlace['turn'] {
  return conversation.recent.findLast(
    ({ messageId, inputs = [] }) => messageId === id || inputs.includes(id),
  );
}

/** The beginning of a text, for a record. */
export function recordText(text: string): string {
  return cut(text, MAX_TEXT_BYTES);
}

/** The statistics of a run; of a conversation, those of all its turns. */
export function totalStats({
  stats,
  turns,
}: {
  readonly stats: Stats;
  readonly turns?: ConversationState;
}): Stats {
  if (turns === undefined) return stats;
  return turns.isOpen ? addedStats(turns.ended, stats) : turns.ended;
}

/**
 * The limits of a turn: its own, and what is left of those of the conversation. A limit on a key that
 * both have holds where it is tighter.
 */
export function limitsOfTurn(
  own: readonly Limit[],
  total: readonly Limit[],
  ended: Stats,
): readonly Limit[] {
  const left = total.map((limit) => {
    const used = ended.counters[limit.key] ?? ended.gauges[limit.key] ?? 0;
    return { ...limit, max: Math.max(0, limit.max - used) };
  });
  const tighter = own.map((limit) => {
    const other = left.find(({ kind, key }) => kind === limit.kind && key === limit.key);
    return other !== undefined && other.max < limit.max ? other : limit;
  });
  const isNew = (limit: Limit): boolean =>
    !own.some(({ kind, key }) => kind === limit.kind && key === limit.key);
  return [...tighter, ...left.filter(isNew)];
}
