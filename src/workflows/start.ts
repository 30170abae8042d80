/** How a link of a chain begins: with a user's input, or with what the link before handed over. */
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import type { Inbox } from '../core/run/inbox.ts';
import type { AgentInput, PreviousRun, ScheduledStart } from '../core/contract/input.ts';
import { isStep } from '../core/contract/piping.ts';
import type { Step } from '../core/contract/step.ts';
import type { RunState } from '../core/run/run-state.ts';
import { sharedByteSize } from '../core/base/byte-sizes.ts';
import { isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../core/base/json.ts';
import type { ParentLink } from '../core/contract/lease.ts';
import { readParentLink } from '../core/tree/read-message.ts';
import type { ActivityRuntime } from '../activities/activity-types.ts';
import type { Adjustment } from '../core/contract/messages.ts';
import { VERSION } from '../core/base/version.ts';
import { RefusedTask } from './failures.ts';
import { EncryptedPayload } from './payload-converter.ts';

/** The version of inputs and of hand-overs that this code reads and writes. */
const FORMAT = 1;

/** What one link hands to the next, version 1. Plain JSON. */
export interface Handover {
  readonly v: 1;
  readonly kind: 'handover';
  readonly state: RunState;
  readonly inbox: Inbox;
  readonly runtime: ActivityRuntime;
  /** Run id of the link that hands over. */
  readonly previous: string;
  /** Adjustments that came after the decision to hand over. The name is recorded in histories. */
  readonly putOff: readonly Adjustment[];
}

/** What a conversation that ends leaves to itself, because something was said meanwhile. */
export interface Reopening {
  readonly v: 1;
  readonly kind: 'reopening';
  readonly input: AgentInput;
  readonly inbox: Inbox;
}

/** What a hand-over carries besides state and inbox, including adjustments that come meanwhile. */
const MARGIN_BYTES = 16_384;

/**
 * Whether a hand-over of at most `maxBytes` could carry `state` and what waits in `inbox`. Costs what
 * changed since it was asked last, because each of many messages asks.
 */
export function fitsHandover(state: RunState | null, inbox: Inbox, maxBytes: number): boolean {
  return sharedByteSize({ state, inbox } as unknown as Json) + MARGIN_BYTES <= maxBytes;
}

/** How a link begins. A fresh input is not checked here: `loadAgent` does that. */
export type Start =
  | {
      readonly kind: 'fresh';
      readonly agent: string;
      readonly input: AgentInput;
      /** The run that started this one as a child; null for any other start. */
      readonly parent: ParentLink | null;
      /** What was said to a conversation while it ended; null for any other start. */
      readonly inbox: Inbox | null;
    }
  | { readonly kind: 'continued'; readonly handover: Handover };

const TOO_DEEP = `data that nests deeper than ${MAX_JSON_DEPTH} levels`;

/**
 * Reads the workflow's argument, which may come from any client. Only one of our links continues as
 * new, so only such an execution accepts a handed-over state; anything else is read as an input.
 *
 * @throws RefusedTask for what another worker may be able to read.
 */
export function readStart(payload: unknown): Start {
  const isContinued = workflowInfo().continuedFromExecutionRunId !== undefined;
  if (isContinued && isPlainObject(payload) && payload['kind'] === 'handover') {
    refuseNewer('hand-over', payload);
    return { kind: 'continued', handover: payload as unknown as Handover };
  }
  if (isContinued && isPlainObject(payload) && payload['kind'] === 'reopening') {
    refuseNewer('hand-over', payload);
    const { input, inbox } = payload as unknown as Reopening;
    return { kind: 'fresh', agent: input.agent, input, parent: null, inbox };
  }
  if (payload instanceof EncryptedPayload) {
    const key = payload.keyId === undefined ? 'a key' : `key ${payload.keyId}`;
    throw new RefusedTask(
      `Refused: the start is encrypted with ${key}, which this worker does not have. A worker that has it takes the run.`,
    );
  }
  if (isPlainObject(payload)) refuseNewer('input', payload);
  const agent = isPlainObject(payload) ? payload['agent'] : undefined;
  const parent = workflowInfo().parent?.workflowId;
  const link = parent === undefined ? null : readParentLink(payload, parent);
  return {
    kind: 'fresh',
    agent: typeof agent === 'string' ? agent : '',
    // `loadAgent` cannot take what nests too deeply, so it gets and refuses a text instead.
    input: (isDeeperThan(payload, MAX_JSON_DEPTH)
      ? TOO_DEEP
      : withSchedule(withoutClaim(payload, link))) as AgentInput,
    parent: link,
    inbox: null,
  };
}

function refuseNewer(what: string, { v }: { readonly [key: string]: unknown }): void {
  if (typeof v !== 'number' || !Number.isInteger(v) || v <= FORMAT) return;
  throw new RefusedTask(
    `Refused: ${what} of version ${v}, this worker (${VERSION}) reads ${FORMAT}. A newer worker takes it.`,
  );
}

/** What the service says of the schedule, in place of any claim. */
function withSchedule(payload: unknown): unknown {
  if (!isPlainObject(payload)) return payload;
  const scheduled = readScheduled(payload);
  if (scheduled === undefined && !('scheduled' in payload)) return payload;
  const { scheduled: _claimed, ...rest } = payload;
  return { ...rest, ...defined({ scheduled }) };
}

/** Only a start by a parent has one: any other claim is removed. */
function withoutClaim(payload: unknown, link: ParentLink | null): unknown {
  if (link !== null || !isPlainObject(payload) || !('parent' in payload)) return payload;
  const { parent: _parent, ...rest } = payload;
  return rest;
}

/**
 * The schedule of a fresh run whose start is `payload`; undefined if none started it. Only the service
 * sets these search attributes, so a start that claims a schedule without them has none.
 */
function readScheduled(payload: unknown): ScheduledStart | undefined {
  const mark = isPlainObject(payload) ? payload['schedule'] : undefined;
  if (!isPlainObject(payload) || !isPlainObject(mark)) return undefined;
  // The typed attributes lack those of the service, which carry no type.
  const { searchAttributes, lastResult, lastFailure } = workflowInfo();
  const [id] = searchAttributes['TemporalScheduledById'] ?? [];
  const [at] = searchAttributes['TemporalScheduledStartTime'] ?? [];
  if (typeof id !== 'string' || !(at instanceof Date)) return undefined;
  const zone = mark['timeZone'];
  const wantsPrevious = mark['previous'] === true;
  return {
    id,
    time: at.toISOString(),
    timeZone: typeof zone === 'string' ? zone : 'UTC',
    ...defined({
      previous: wantsPrevious
        ? previousOf(payload['agent'], id, stepIn(lastFailure) ?? readable(lastResult))
        : undefined,
    }),
  };
}

/** The Step that a failed run before this one has left; its failure carries it. */
function stepIn(failure: Error | undefined): unknown {
  return failure instanceof ApplicationFailure ? readable(failure.details?.[0]) : undefined;
}

/** @throws RefusedTask for a Step that this worker cannot decrypt: another one can. */
function readable(value: unknown): unknown {
  if (!(value instanceof EncryptedPayload)) return value;
  throw new RefusedTask(
    `Refused: the Step of the run before is encrypted with key ${value.keyId ?? 'of an unknown name'}, which this worker does not have. A worker that has it takes the run.`,
  );
}

/** How the run before ended; null if there was none, or if what it left is no Step of this schedule. */
function previousOf(agent: unknown, id: string, left: unknown): PreviousRun | null {
  if (!isStep(left) || left.agent !== agent || !isOf(left, id)) return null;
  const { status, value, reason, trace } = left;
  return { status, value, reason, endedAt: trace.schedule?.endedAt ?? null };
}

function isOf({ trace }: Step, id: string): boolean {
  return trace.schedule?.id === id;
}
