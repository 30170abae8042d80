/**
 * Which texts of a history are ids of Everloop's own. Nothing else tells an id from a secret, so the
 * rule is narrow.
 *
 * I1  The name of a field alone keeps nothing: the value must have the form that Everloop gives it.
 * I2  What users' code, models and people give, such as arguments and outputs, has no such fields.
 */
import { isPlainObject } from '../core/base/json.ts';
import { belowOf } from '../core/base/ids.ts';
import type { RunHistory } from './run-history.ts';

/** `1.1`, `1.spawn-2`, `1.p`, `1.p4/0/1`, `4/0/1`, `q1`: calls, programs, effects and questions. */
const CALL_ID =
  /^(?:\d{1,5}|q\d{1,5})(?:[./](?:\d{1,5}|q\d{1,5}|p\d{0,5}|spawn(?:-\d{1,5})?|ask-\d{1,5}))*$/;

const DIGEST = /^[0-9a-f]{16}$/;

const CODE_ID = /^l\d:[0-9a-f]{32}$/;

/** The mark of loops of users: see `markOf` of the worker's bundle. */
const MARK = /^[\w.+-]{1,64}@[0-9a-f]{8}$/;

/** Fields of Everloop's formats with an id that is kept, and the form that it has. */
const ID_FIELDS: ReadonlyMap<string, RegExp> = new Map([
  ['id', CALL_ID],
  ['callId', CALL_ID],
  ['programId', CALL_ID],
  ['digest', DIGEST],
  ['specHash', DIGEST],
  ['program', CODE_ID],
  ['workflows', MARK],
]);

/** Fields under which stands what users' code, models and people give. */
const USER_DATA = new Set(
  [
    'answer answers args bindings body content context data details error external globals headers',
    'history input inputs items labels last material memo memory message messages metadata output',
    'outputs parts payload question result results returned task text value values',
  ].flatMap((line) => line.split(' ')),
);

/** Whether what stands under this field of a payload is data of users. */
export function isUserData(field: string): boolean {
  return USER_DATA.has(field);
}

/** Whether this field of Everloop's own formats holds this text as an id. */
export function isIdField(field: string, text: string): boolean {
  return ID_FIELDS.get(field)?.test(text) ?? false;
}

/** Whether this key of an object in Everloop's own formats is an id. */
export function isIdKey(key: string): boolean {
  return CALL_ID.test(key);
}

/**
 * The ids that the service itself has in the link: of the workflow, of those above and below it, and
 * of its updates. The events keep them, so payloads may as well.
 */
export function serviceIdsOf({ workflowId, history }: RunHistory): ReadonlySet<string> {
  const ids = new Set([workflowId]);
  const visit = (value: unknown, field: string): void => {
    if (typeof value === 'string' && /^(?:workflowId|updateId)$/.test(field)) ids.add(value);
    if (Array.isArray(value)) for (const item of value as unknown[]) visit(item, field);
    if (!isPlainObject(value)) return;
    for (const [name, item] of Object.entries(value)) visit(item, name);
  };
  visit(history.events, '');
  ids.delete('');
  return ids;
}

/** Whether the text is the id of a workflow below this one. */
export function isBelow(workflowId: string, text: string): boolean {
  const start = belowOf(workflowId);
  return text.startsWith(start) && CALL_ID.test(text.slice(start.length));
}

/** The run and the key in the id of a limit, as `leaseId` of the contract writes it; null: it is none. */
export function limitIdParts(text: string): { readonly run: string; readonly key: string } | null {
  const [run = '', key = '', onReach = '', ...more] = text.split(' ');
  const isLimit = /^(?:end|refuse)$/.test(onReach) && more.length === 0;
  return isLimit ? { run, key } : null;
}
