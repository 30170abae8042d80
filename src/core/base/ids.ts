/**
 * Ids of workflows: those that users choose, those that are Everloop's own, and those that follow
 * from others. Below them, what the id of a model entry may be.
 *
 * I1  An id has at most {@link MAX_ID_CHARACTERS} characters: an SQL database of the service has
 *     columns of so many. None has control characters, which a service cannot store.
 * I2  Users choose no id with a {@link MARK}. A part that begins with one is an id of our own, of a
 *     kind in {@link OWN_KINDS}; elsewhere it is followed by the digest of what would be too long.
 * I3  The ids of children follow from that of their parent alone, so whoever knows a run and a call
 *     knows the child. Equal ids come from equal runs and calls.
 */
import { defined } from './defined.ts';
import { sha256 } from '../../lisp/base/sha256.ts';
import { utf8Length } from './json.ts';

/** Characters of an id, as a database counts them: code points. */
export const MAX_ID_CHARACTERS = 255;

/** Bytes of an id, as the service allows them (`limit.maxIDLength`). */
const MAX_ID_BYTES = 1_000;

/** What no id has that a user chooses. */
const MARK = '~';

/** What workflows of our own are for, and how their ids go on after the mark. */
const OWN_KINDS = {
  /** The ledger of a tenant: `~tenant:acme`. */
  ledger: 'tenant:',
  /** The counter of a rate: `~rate:provider/model`. */
  counter: 'rate:',
  /** A delivery of callbacks: `acme:~callbacks-…`, after the tenant of its run. */
  callbacks: 'callbacks-',
  /** A look at a moment: `clerk-7/~moment-…`, below its run. */
  moment: 'moment-',
  /** A conversation: `~conversation:guest-42`, with a tenant `acme:~conversation:guest-42`. */
  conversation: 'conversation:',
} as const;

/** What a workflow of our own is for. */
export type OwnIdKind = keyof typeof OWN_KINDS;

/** The id of our own for `name`, which has no {@link MARK} of its own. */
export function ownId(kind: OwnIdKind, name: string): string {
  return `${MARK}${OWN_KINDS[kind]}${name}`;
}

/** The name in `id`, if that is one of our own of this kind; else undefined. */
export function ownName(kind: OwnIdKind, id: string): string | undefined {
  const start = ownId(kind, '');
  return id.startsWith(start) ? id.slice(start.length) : undefined;
}

/** The workflow id of a conversation. */
export function conversationWorkflow(id: string, tenant?: string): string {
  return `${tenant === undefined ? '' : `${tenant}:`}${ownId('conversation', id)}`;
}

/** The id of the conversation that workflow `id` runs; undefined if it runs none. */
export function conversationOf(id: string): string | undefined {
  return conversationPlace(id)?.id;
}

/** A conversation, as its workflow id names it. */
export interface ConversationPlace {
  readonly id: string;
  readonly tenant?: string;
}

/** The conversation that workflow `id` runs, and whose it is; undefined if it runs none. */
export function conversationPlace(workflowId: string): ConversationPlace | undefined {
  const found = /^(?:([^:~/]+):)?~conversation:([^/]+)$/.exec(workflowId);
  const [, tenant, id] = found ?? [];
  return id === undefined ? undefined : defined({ id, tenant });
}

/** Whether an id is one of our own, also after a tenant or below a run. */
export function isOwnId(id: string): boolean {
  return /(?:^|[:/])~/.test(id);
}

/** C0, C1, DEL, line and paragraph separators, halves of surrogate pairs. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Why nothing may have this id of at most `most` characters, as `to …`; undefined if it may. */
export function idProblem(id: unknown, most: number = MAX_ID_CHARACTERS): string | undefined {
  const isText = typeof id === 'string' && id !== '' && id.length <= MAX_ID_BYTES;
  if (!isText || charactersOf(id) > most || utf8Length(id) > MAX_ID_BYTES) {
    return `to be text of 1 to ${most} characters`;
  }
  if (CONTROL.test(id)) return 'to have no control characters';
  // Some databases take texts that differ in spaces at their end for equal.
  return id.trim() === id ? undefined : 'to have no space at its beginning or end';
}

/** The end of the id of a child: a call, as in `clerk-7/1.6` and `clerk-7/1.p2/0`. */
const CHILD = /\/\d+\.[^/]+(?:\/\d+)*$/;

/** The time in the id of a schedule's run, which the service appends to that of the schedule. */
const SCHEDULED = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** What Temporal begins its own ids with, such as those of schedules. */
const TEMPORAL = /^(?:temporal-sys-|__temporal)/;

/** Why no user may give this id to what is new, as `to …`; undefined if one may. */
export function newIdProblem(id: unknown): string | undefined {
  const problem = idProblem(id);
  if (problem !== undefined) return problem;
  const text = String(id);
  if (text.includes(MARK)) return `to have no \`${MARK}\`, which ids of Everloop's own have`;
  if (TEMPORAL.test(text)) return "to begin otherwise than Temporal's own";
  if (CHILD.test(text)) return 'to end otherwise than that of a child run';
  return SCHEDULED.test(text) ? "to end otherwise than that of a schedule's run" : undefined;
}

/** Which run started another, and for which of its calls. */
export interface StartedBy {
  readonly workflowId: string;
  readonly callId: string;
}

/** Why no run may begin under this id, as `to …`: any client may start a workflow, under any id. */
export function runIdProblem(
  id: string,
  parent: StartedBy | null,
  conversation?: string,
): string | undefined {
  if (parent !== null && idBelow(parent.workflowId, parent.callId) === id) return undefined;
  if (conversation !== undefined && conversationOf(id) === conversation) return idProblem(id);
  if (isOwnId(id)) return "to be none of Everloop's own";
  return CHILD.test(id) ? 'to end otherwise than that of a child run' : idProblem(id);
}

/** Characters of a digest: 128 bits. */
const DIGEST = 32;

/** Characters of the end of a child's id, without its slash. */
const MAX_CALL = 64;

/** Characters of an id that the ids of its children begin with as it is. */
const MAX_WHOLE = MAX_ID_CHARACTERS - 1 - MAX_CALL;

/** Characters that are kept of a longer one. */
const MAX_HEAD = MAX_WHOLE - 1 - DIGEST;

/** The id of the child that run `id` starts for a call: `clerk-7` and `1.6` give `clerk-7/1.6`. */
export function idBelow(id: string, callId: string): string {
  return `${belowOf(id)}${callPart(callId)}`;
}

/** The id of a look at a moment of run `id`. */
export function momentId(id: string, name: string): string {
  return `${belowOf(id)}${ownId('moment', name)}`;
}

/** What the ids of all children of run `id` begin with, and what looks at it; ends with a slash. */
export function belowOf(id: string): string {
  if (charactersOf(id) <= MAX_WHOLE) return `${id}/`;
  const head = Array.from(id).slice(0, MAX_HEAD).join('');
  return `${head}${MARK}${digestOf(id)}/`;
}

/** How the id of a run begins that is far below another one: `…~`, a digest and a slash. */
const CUT = new RegExp(`^([^]*)${MARK}[0-9a-f]{${DIGEST}}/`);

/**
 * What is left of the ids above run `id` if one of them was too long: each run that begins so may be
 * above it. Undefined if none was: then each part of `id` before a slash may be above it.
 */
export function headAbove(id: string): string | undefined {
  return CUT.exec(id)?.[1];
}

/** A call that is too long keeps its iteration, by which lists are sorted. */
function callPart(callId: string): string {
  const isWhole = charactersOf(callId) <= MAX_CALL && !callId.includes(MARK);
  if (isWhole && idProblem(callId) === undefined) return callId;
  const [iteration = '0'] = /^\d{1,16}/.exec(callId) ?? [];
  return `${iteration}.${MARK}${digestOf(callId)}`;
}

/**
 * The id of a fork of run `run` that has none of its own. A fork of a child is a root, so its id
 * begins as that of its root does.
 */
export function forkId(run: string, tail: string): string {
  const end = `-fork-${tail}`;
  const [root = ''] = (conversationOf(run) ?? run).split(/[/~]/);
  const head = Array.from(root)
    .slice(0, MAX_ID_CHARACTERS - charactersOf(end))
    .join('');
  return `${head}${end}`;
}

function charactersOf(text: string): number {
  return Array.from(text).length;
}

function digestOf(text: string): string {
  return sha256(text).slice(0, DIGEST);
}

/** Whether `id` can be the id of a model entry. Keys of statistics end with it. */
export function isModelId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,127}$/.test(id);
}
