/**
 * What a run waits for: questions, approvals, outside work. One mechanism: an item in the state,
 * listed by `pending`, ended by one answer, its deadline, or the end of the run.
 *
 * I1  Items are plain JSON in the run's state, so they outlive every process and every hand-over.
 * I2  An item ends once. Later answers are refused and change nothing.
 * I3  An answer is checked here before it is accepted, so the loop only sees answers that fit.
 */
import {
  byteSize,
  isDeeperThan,
  isPlainObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../base/json.ts';
import { foldedLabel } from '../text/folded-label.ts';
import type { ToolResult } from './outcome.ts';
import { INLINE_SIZES } from '../base/size-limits.ts';

/** Ended items that are kept, newest last, to tell a late answer from a wrong id. */
const MAX_SETTLED_ITEMS = 200;

/** What every item has. */
export interface ItemBase {
  /** `q1`, `q2`, … for a question; otherwise the id of the call. */
  readonly id: string;
  /** The call that waits. A call waits for one thing at a time. */
  readonly callId: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When it ends without an answer; absent: it waits forever. */
  readonly deadline?: number;
  /** From `since` to `deadline`. */
  readonly timeoutMs?: number;
}

/** A question to a person. */
export interface QuestionItem extends ItemBase {
  readonly kind: 'question';
  readonly question: string;
  /** Labels to choose from, an answer is one or its number from 1; absent: any text is one. */
  readonly options?: readonly string[];
  /** With options: whether any other text is accepted too. */
  readonly free: boolean;
  /** Further data for the person. */
  readonly details?: Json;
  /** The answer at the deadline if none was given. */
  readonly default?: Json;
}

/** A call that a person approves, denies or edits before it runs. */
export interface ApprovalItem extends ItemBase {
  readonly kind: 'approval';
  readonly tool: string;
  readonly args: JsonObject;
  /** What the model wrote beside the call; cut to 2 KB. */
  readonly reasoning?: string;
}

/** Outside work that a tool has begun. */
export interface ExternalItem extends ItemBase {
  readonly kind: 'external';
  readonly tool: string;
  readonly args: JsonObject;
  readonly details?: Json;
  /** The result so far, kept for the end of the call and not shown. */
  readonly begun: ToolResult;
  /** Whether a person changed the arguments. */
  readonly edited?: true;
}

/** Something that waits. */
export type WaitingItem = QuestionItem | ApprovalItem | ExternalItem;

/** An item that has ended. */
export interface SettledItem {
  readonly id: string;
  readonly kind: WaitingItem['kind'];
}

/** What a person decides about a call. */
export type Decision =
  { readonly approve: true } | { readonly deny: string } | { readonly args: JsonObject };

/** How an answer or a decision is sent. */
export interface AnswerOptions {
  /** Repeating an id has no effect and is no error; default: a new id. */
  readonly updateId?: string;
}

/** What ends an item: the value for a question or outside work, or a decision. */
export type AnswerBody =
  | { readonly kind: 'answer'; readonly value: Json }
  | { readonly kind: 'decision'; readonly decision: Decision };

/** An accepted answer; `updateId` makes a repetition harmless. */
export type PersonAnswer = AnswerBody & { readonly id: string; readonly updateId: string };

/** A valid answer, or why it is refused, in one sentence. */
export type AnswerCheck =
  | { readonly kind: 'fits'; readonly body: AnswerBody }
  | { readonly kind: 'refused'; readonly message: string };

/** What an answer is checked against: what waits, and what has ended. */
export interface WaitingItems {
  /** Bytes of JSON in an answer: as many as a tool may return. Default: without a blob store. */
  readonly maxBytes?: number;
  readonly pending?: readonly WaitingItem[];
  readonly settled?: readonly SettledItem[];
}

/** Checks the value for question or outside work `id`, which may come from any client. */
export function checkAnswer(waits: WaitingItems, id: unknown, value: unknown): AnswerCheck {
  const item = itemOf(waits, id, ['question', 'external']);
  if (typeof item === 'string') return refused(item);
  if (isDeeperThan(value, MAX_JSON_DEPTH) || !isJson(value)) {
    return refused(`answer with JSON of at most ${MAX_JSON_DEPTH} levels`);
  }
  const { maxBytes = INLINE_SIZES.result } = waits;
  const bytes = byteSize(value);
  if (bytes > maxBytes) {
    return refused(`the answer has ${bytes} bytes, at most ${maxBytes} are allowed`);
  }
  if (item.kind !== 'question') return { kind: 'fits', body: { kind: 'answer', value } };
  const chosen = chosenText(item, value);
  return chosen.kind === 'refused'
    ? chosen
    : { kind: 'fits', body: { kind: 'answer', value: chosen.text } };
}

/** Checks a decision about call `id`, which may come from any client. */
export function checkDecision(waits: WaitingItems, id: unknown, decision: unknown): AnswerCheck {
  const item = itemOf(waits, id, ['approval']);
  if (typeof item === 'string') return refused(item);
  const read = readDecision(decision);
  if (read === null) {
    return refused('decide with { approve: true }, { deny: "reason" } or { args: { … } }');
  }
  const { maxBytes = INLINE_SIZES.result } = waits;
  const bytes = byteSize(read as unknown as Json);
  return bytes <= maxBytes
    ? { kind: 'fits', body: { kind: 'decision', decision: read } }
    : refused(`the decision has ${bytes} bytes, at most ${maxBytes} are allowed`);
}

/** `1 John Smith, 2 John Doe`: options as a person may refer to them. */
export function numberedOptions(options: readonly string[]): string {
  return options.map((label, index) => `${index + 1} ${label}`).join(', ');
}

/** `items` with `item`. It replaces the item of the same call, since a call waits for one thing. */
export function withItem(items: readonly WaitingItem[], item: WaitingItem): readonly WaitingItem[] {
  return [...items.filter(({ callId }) => callId !== item.callId), item];
}

/** The newest of `settled` and `item`. */
export function withSettled(
  settled: readonly SettledItem[],
  { id, kind }: WaitingItem,
): readonly SettledItem[] {
  return [...settled, { id, kind }].slice(-MAX_SETTLED_ITEMS);
}

/** The item with `id`, if it is one of `kinds`; otherwise why there is none. */
function itemOf(
  { pending = [], settled = [] }: WaitingItems,
  id: unknown,
  kinds: readonly WaitingItem['kind'][],
): WaitingItem | string {
  const isDecided = kinds.includes('approval');
  const item = pending.find((one) => one.id === id && kinds.includes(one.kind));
  if (item !== undefined) return item;
  const other = pending.find((one) => one.id === id);
  if (other !== undefined) {
    return isDecided
      ? `${nameOf(other)} takes an answer, no decision`
      : `${nameOf(other)} takes a decision, no answer`;
  }
  const done = settled.findLast((one) => one.id === id && kinds.includes(one.kind));
  if (done !== undefined) return `${nameOf(done)} is already ${isDecided ? 'decided' : 'answered'}`;
  const ids = pending.filter(({ kind }) => kinds.includes(kind)).map((one) => one.id);
  const waiting = ids.length === 0 ? 'nothing' : ids.join(', ');
  const what = isDecided ? 'a decision' : 'an answer';
  const shown = typeof id === 'string' ? `\`${id.slice(0, 80)}\`` : typeof id;
  return `nothing waits for ${what} under the id ${shown}, got ${waiting} to choose from`;
}

/** `question q3`, `approval 2.1`, `external 2.1` */
export function nameOf({ kind, id }: SettledItem): string {
  return `${kind} ${id}`;
}

/** A label, or its number from 1; other text if it is allowed. */
function chosenText(
  { options, free }: QuestionItem,
  value: Json,
): { readonly kind: 'text'; readonly text: string } | Extract<AnswerCheck, { kind: 'refused' }> {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
  if (options === undefined || options.length === 0) {
    if (typeof value !== 'string' || value.trim() === '') return refused('answer with a text');
    return { kind: 'text', text: value };
  }
  const wanted = foldedLabel(text ?? '');
  const byLabel = options.findIndex((label) => foldedLabel(label) === wanted);
  const place = byLabel >= 0 || !/^\d+$/.test(wanted) ? byLabel : Number(wanted) - 1;
  const label = options[place];
  if (label !== undefined) return { kind: 'text', text: label };
  if (free && typeof value === 'string' && wanted !== '') return { kind: 'text', text: value };
  return refused(`answer one of: ${numberedOptions(options)}`);
}

function readDecision(decision: unknown): Decision | null {
  if (!isPlainObject(decision) || isDeeperThan(decision, MAX_JSON_DEPTH)) return null;
  const { approve, deny, args } = decision;
  const given = [approve, deny, args].filter((field) => field !== undefined);
  if (given.length !== 1) return null;
  if (approve === true) return { approve };
  if (typeof deny === 'string') return { deny };
  return isPlainObject(args) && isJson(args) ? { args: args as JsonObject } : null;
}

/** A value from the wire is JSON; one from a caller in this process may be anything. */
function isJson(value: unknown): value is Json {
  if (value === null || ['boolean', 'string'].includes(typeof value)) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return isPlainObject(value) && Object.values(value).every(isJson);
}

function refused(message: string): Extract<AnswerCheck, { kind: 'refused' }> {
  return { kind: 'refused', message };
}
