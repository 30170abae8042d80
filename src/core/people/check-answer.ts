/** Checks answers and decisions of people, which any client may have sent. */
import {
  byteSize,
  isDeeperThan,
  isPlainObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../base/json.ts';
import { INLINE_SIZES } from '../base/size-limits.ts';
import {
  nameOf,
  numberedOptions,
  type AnswerCheck,
  type AnswerProblem,
  type Decision,
  type QuestionItem,
  type WaitingItem,
  type WaitingItems,
} from '../contract/pending.ts';
import { standingOf, standingProblem } from './standing-approvals.ts';
import { foldedLabel } from '../text/folded-label.ts';
import { readInputAnswer } from '../toolchain/form.ts';

/** Checks the value for question or outside work `id`, which may come from any client. */
export function checkAnswer(waits: WaitingItems, id: unknown, value: unknown): AnswerCheck {
  const item = itemOf(waits, id, ['question', 'external']);
  if (isRefused(item)) return item;
  if (isDeeperThan(value, MAX_JSON_DEPTH) || !isJson(value)) {
    return refused(`answer with JSON of at most ${MAX_JSON_DEPTH} levels`);
  }
  const { maxBytes = INLINE_SIZES.result } = waits;
  const bytes = byteSize(value);
  if (bytes > maxBytes) {
    return refused(`the answer has ${bytes} bytes, at most ${maxBytes} are allowed`);
  }
  const body = { kind: 'answer', value } as const;
  if (item === 'early') return { kind: 'fits', body, isEarly: true };
  if (item.kind !== 'question') return { kind: 'fits', body };
  const { input } = item;
  const request = input?.asked.requests[input.key];
  const read = request === undefined ? chosenText(item, value) : readInputAnswer(request, value);
  return read.kind === 'refused'
    ? refused(read.message)
    : { kind: 'fits', body: { kind: 'answer', value: read.value } };
}

/** Checks a decision about call `id`, which may come from any client. */
export function checkDecision(waits: WaitingItems, id: unknown, decision: unknown): AnswerCheck {
  const item = itemOf(waits, id, ['approval']);
  if (isRefused(item)) return item;
  const read = readDecision(decision);
  if (read === null) {
    const remembers = isPlainObject(decision) && decision['remember'] !== undefined;
    return refused(
      remembers
        ? 'remember with { approve: true, remember: "tool" } or { approve: true, remember: "arguments" }'
        : 'decide with { approve: true }, { deny: "reason" } or { args: { … } }',
    );
  }
  const unremembered = rememberProblem(waits, item, read);
  if (unremembered !== undefined) return refused(unremembered);
  const { maxBytes = INLINE_SIZES.result } = waits;
  const bytes = byteSize(read as unknown as Json);
  return bytes <= maxBytes
    ? { kind: 'fits', body: { kind: 'decision', decision: read } }
    : refused(`the decision has ${bytes} bytes, at most ${maxBytes} are allowed`);
}

/**
 * The item with `id`, if it is one of `kinds`; `early` if a call of this id may yet begin outside work;
 * otherwise why there is none.
 */
function itemOf(
  { pending = [], settled = [], begun = [] }: WaitingItems,
  id: unknown,
  kinds: readonly WaitingItem['kind'][],
): WaitingItem | Refused | 'early' {
  const isDecided = kinds.includes('approval');
  const item = pending.find((one) => one.id === id && kinds.includes(one.kind));
  if (item !== undefined) return item;
  const other = pending.find((one) => one.id === id);
  if (other !== undefined) {
    return refused(
      isDecided
        ? `${nameOf(other)} takes an answer, no decision`
        : `${nameOf(other)} takes a decision, no answer`,
    );
  }
  const done = settled.findLast((one) => one.id === id && kinds.includes(one.kind));
  if (done !== undefined) {
    const ended = isDecided ? 'decided' : 'answered';
    return refused(`${nameOf(done)} is already ${ended}`, 'item_settled');
  }
  if (kinds.includes('external') && begun.some((callId) => callId === id)) return 'early';
  const ids = pending.filter(({ kind }) => kinds.includes(kind)).map((one) => one.id);
  const waiting = ids.length === 0 ? 'nothing' : ids.join(', ');
  const what = isDecided ? 'a decision' : 'an answer';
  const shown = typeof id === 'string' ? `\`${id.slice(0, 80)}\`` : typeof id;
  return refused(
    `nothing waits for ${what} under the id ${shown}, got ${waiting} to choose from`,
    'item_unknown',
  );
}

/** A label, or its number from 1; other text if it is allowed. */
function chosenText(
  { options, free }: QuestionItem,
  value: Json,
): { readonly kind: 'fits'; readonly value: Json } | Refused {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
  if (options === undefined || options.length === 0) {
    if (typeof value !== 'string' || value.trim() === '') return refused('answer with a text');
    return { kind: 'fits', value };
  }
  const wanted = foldedLabel(text ?? '');
  const byLabel = options.findIndex((label) => foldedLabel(label) === wanted);
  const place = byLabel >= 0 || !/^\d+$/.test(wanted) ? byLabel : Number(wanted) - 1;
  const label = options[place];
  if (label !== undefined) return { kind: 'fits', value: label };
  if (free && typeof value === 'string' && wanted !== '') return { kind: 'fits', value };
  return refused(`answer one of: ${numberedOptions(options)}`);
}

/** Why the approval of `item` cannot hold for later calls; undefined: it can, or is not to. */
function rememberProblem(
  { standing = [] }: WaitingItems,
  item: WaitingItem | 'early',
  decision: Decision,
): string | undefined {
  if (item === 'early' || item.kind !== 'approval') return undefined;
  const scope = 'approve' in decision ? decision.remember : undefined;
  return scope && standingProblem(standing, standingOf(item, scope, { since: item.since }));
}

function readDecision(decision: unknown): Decision | null {
  if (!isPlainObject(decision) || isDeeperThan(decision, MAX_JSON_DEPTH)) return null;
  const { approve, deny, args, remember } = decision;
  const given = [approve, deny, args].filter((field) => field !== undefined);
  if (given.length !== 1) return null;
  if (approve === true) {
    if (remember === undefined) return { approve };
    return remember === 'tool' || remember === 'arguments' ? { approve, remember } : null;
  }
  if (remember !== undefined) return null;
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

type Refused = Extract<AnswerCheck, { kind: 'refused' }>;

function refused(message: string, code: AnswerProblem = 'invalid_input'): Refused {
  return { kind: 'refused', code, message };
}

function isRefused(item: ReturnType<typeof itemOf>): item is Refused {
  return item !== 'early' && item.kind === 'refused';
}
