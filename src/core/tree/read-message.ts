/** Reads messages between runs, which any client may have sent. */
import { defined } from '../base/defined.ts';
import type { PendingItem } from '../contract/messages.ts';
import { isDeeperThan, isPlainObject, MAX_JSON_DEPTH } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import { isSelf } from '../stats/stat-keys.ts';
import type { Numbers } from '../contract/stats.ts';
import type { Deadline, LeaseAnswer, LeaseReturn, ParentLink } from '../contract/lease.ts';
import type {
  ChildCancel,
  DeadlineChange,
  LeaseGrant,
  LeaseRequest,
  ProgressMessage,
} from '../contract/tree-messages.ts';

/** A child's report; null if it is not one. */
export function readProgress(payload: unknown): ProgressMessage | null {
  const base = readReport(payload);
  if (base === null || base.kind !== 'progress') return null;
  const pending = base.payload['pending'];
  if (!isListOf(pending, isItem)) return null;
  const { childId, number, totals, returned } = base;
  const final = base.payload['final'] === true || undefined;
  return defined({ v: 1, kind: 'progress', childId, number, totals, pending, returned, final });
}

/** A child's request for more; null if it is not one. */
export function readLeaseRequest(payload: unknown): LeaseRequest | null {
  const base = readReport(payload);
  if (base === null || base.kind !== 'lease-request') return null;
  const wants = base.payload['wants'];
  if (!isListOf(wants, isText)) return null;
  const { childId, number, totals, returned } = base;
  const { missing } = base.payload;
  if (missing !== undefined && !isTotals(missing)) return null;
  const request = { v: 1, kind: 'lease-request', childId, number, totals, wants } as const;
  return defined({ ...request, missing, returned });
}

/** A parent's grant; null if it is not one. */
export function readLeaseGrant(payload: unknown): LeaseGrant | null {
  if (!isMessage(payload, 'lease-grant')) return null;
  const { number, leases } = payload;
  if (!isCount(number) || !isListOf(leases, isAnswer)) return null;
  return { v: 1, kind: 'lease-grant', number, leases };
}

/** A parent's order to end; null for a cancel from anywhere else. */
export function readChildCancel(payload: unknown): ChildCancel | null {
  if (!isMessage(payload, 'cancel') || typeof payload['message'] !== 'string') return null;
  const { message, breach } = payload;
  if (breach !== undefined && !isBreach(breach)) return null;
  return defined({ v: 1, kind: 'cancel', message, breach });
}

/** The deadlines of the ancestors; null if the message is not one. */
export function readDeadlineChange(payload: unknown): DeadlineChange | null {
  if (!isMessage(payload, 'deadlines')) return null;
  const { number, deadlines } = payload;
  if (!isCount(number) || !isListOf(deadlines, isDeadline)) return null;
  return { v: 1, kind: 'deadlines', number, deadlines };
}

/** The link of a start to the parent at address `workflowId`, if it has one. */
export function readParentLink(payload: unknown, workflowId: string): ParentLink | null {
  if (!isPlainObject(payload) || !isPlainObject(payload['parent'])) return null;
  const { parent } = payload;
  // Only our workflows start children, so a link with the right address was written by one.
  const isOurs = parent['v'] === 1 && typeof parent['callId'] === 'string';
  return isOurs && parent['workflowId'] === workflowId ? (parent as unknown as ParentLink) : null;
}

function readReport(payload: unknown): {
  readonly kind: unknown;
  readonly childId: string;
  readonly number: number;
  readonly totals: Numbers;
  readonly returned: readonly LeaseReturn[] | undefined;
  readonly payload: { readonly [field: string]: unknown };
} | null {
  if (!isPlainObject(payload) || payload['v'] !== 1) return null;
  const { kind, childId, number, totals, returned } = payload;
  if (typeof childId !== 'string' || !isCount(number) || !isTotals(totals)) return null;
  if (returned !== undefined && !isListOf(returned, isReturn)) return null;
  return { kind, childId, number, totals, returned, payload };
}

function isMessage(
  payload: unknown,
  kind: string,
): payload is { readonly [field: string]: unknown } {
  return isPlainObject(payload) && payload['v'] === 1 && payload['kind'] === kind;
}

function isTotals(value: unknown): value is Numbers {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(([key, total]) => !isSelf(key) && isCount(total))
  );
}

function isListOf<Item>(
  value: unknown,
  isItem: (item: unknown) => item is Item,
): value is readonly Item[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether `value` is an object whose fields pass their checks. */
function hasFields(
  value: unknown,
  checks: { readonly [field: string]: (value: unknown) => boolean },
): value is { readonly [field: string]: unknown } {
  return (
    isPlainObject(value) && Object.entries(checks).every(([field, check]) => check(value[field]))
  );
}

function isItem(value: unknown): value is PendingItem {
  const isShaped = hasFields(value, { id: isText, kind: isText, agent: isText, path: isText });
  return isShaped && !isDeeperThan(value, MAX_JSON_DEPTH);
}

function isAnswer(value: unknown): value is LeaseAnswer {
  if (!hasFields(value, { id: isText })) return false;
  const { granted, recalls, refused, lifted } = value;
  if (lifted === true) return true;
  const isRefusal = refused === undefined || hasFields(refused, { value: isCount, max: isCount });
  return isCount(granted) && (recalls === undefined || isCount(recalls)) && isRefusal;
}

function isReturn(value: unknown): value is LeaseReturn {
  return hasFields(value, { id: isText, recalls: isCount, kept: isCount });
}

function isDeadline(value: unknown): value is Deadline {
  const isLimit = (limit: unknown): boolean => hasFields(limit, { max: isNumber });
  return hasFields(value, { origin: isPlainObject, limit: isLimit, startedAt: isCount });
}

function isBreach(value: unknown): value is Breach {
  return hasFields(value, {
    key: isText,
    value: isNumber,
    limit: isPlainObject,
    origin: isPlainObject,
  });
}
