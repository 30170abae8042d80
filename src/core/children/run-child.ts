/**
 * A child run from the wish for it to its end: room is made, its budgets are reserved, it runs, and its
 * totals become part of its parent's. Asynchronous, like `run-call.ts`, of which it is a part.
 *
 * I1  A child is in the state before it is started and until its end is recorded: nothing that it may
 *     spend is forgotten in between.
 * I2  Its end is recorded when it comes, whatever is recorded of the call later.
 */
import { isHidden } from '../contract/signature.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { Numbers } from '../contract/stats.ts';
import { canceledCallText, childFailureText, refusedText } from '../toolchain/call-texts.ts';
import { capOutput, type CappedOutput } from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import { chargedTotals, addedTotals, totalsOf, type OpenChild } from '../tree/child-totals.ts';
import { depthLimitOf } from '../tree/inherit.ts';
import { breachOf, reserve } from '../tree/ledger.ts';
import type { Lease, ParentLink } from '../contract/lease.ts';
import type { CallEnd } from '../contract/call-end.ts';
import { cancelOf } from './family.ts';
import type { ChildEnd } from '../contract/host-outcome.ts';
import type { Host } from '../run/host.ts';
import type { AgentInput } from '../contract/input.ts';
import { makeRoom } from '../run/make-room.ts';
import { deadlinesBelow, isInterrupted, isStopped, ledgerOf, type Run } from '../run/run.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { Step } from '../contract/step.ts';
import { usageOf } from '../run/step-of.ts';
import { unstarted } from '../people/wait-for-person.ts';

/** Children of one run that may live at once: each costs its parent events, and the rest waits. */
const MAX_LIVE_CHILDREN = 200;

/** How many children are about to start together; each counts itself out when it starts or does not. */
export interface Starters {
  children: number;
}

/** A child that is wanted. */
export interface ChildWish {
  /** Unique in the run: the child's address ends with it. */
  readonly callId: string;
  readonly agent: string;
  readonly input: Pick<AgentInput, 'task' | 'context' | 'contextDescriptions' | 'model' | 'memory'>;
  readonly starters?: Starters | undefined;
  /** What it is told when it is to end though the run itself goes on. Default: an input interrupts. */
  readonly onAbort?: string | undefined;
}

/** A child that gave no value. */
export interface ChildFailure extends Pick<Step, 'agent' | 'status' | 'reason' | 'message'> {
  /** Its address where it ended without a Step. */
  readonly runId: string;
  /** The limit of its parent, or of a run further up, that it ended of. */
  readonly breach?: Breach;
}

/** What came of the wish for a child. */
export type ChildOutcome =
  | { readonly kind: 'value'; readonly value: Json; readonly step: Step }
  /** It ran, or could not be started, and gave no value; `text` says so to a model. */
  | {
      readonly kind: 'failed';
      readonly text: string;
      readonly started: boolean;
      readonly failure: ChildFailure;
    }
  /** A limit left no room, and the run goes on. */
  | { readonly kind: 'refused'; readonly text: string; readonly breach: Breach }
  /** The run is to stop, or an input interrupts. */
  | { readonly kind: 'stopped'; readonly started: boolean };

/** One unit of each: what a child needs to be worth starting. */
const START_NEEDS: Numbers = {
  'agent:children': 1,
  'agent:model_calls': 1,
  'agent:input_tokens': 1,
  'agent:output_tokens': 1,
  'agent:total_tokens': 1,
  'agent:cost_microusd': 1,
};

/** Starts a child when there is room for it, and waits for its end. */
export async function runChild(run: Run, host: Host, wish: ChildWish): Promise<ChildOutcome> {
  const { starters } = wish;
  let isCounted = false;
  const countOut = (): number => {
    const starting = Math.max(1, starters?.children ?? 1);
    if (starters !== undefined && !isCounted) starters.children -= 1;
    isCounted = true;
    return starting;
  };
  try {
    const isFull = (): boolean => (run.state.children ?? []).length >= MAX_LIVE_CHILDREN;
    const isOff = (): boolean => isStopped(run, host) || isInterrupted(host);
    do {
      while (isFull() && !isOff()) await host.waits.until(() => !isFull() || isOff());
      const room = makeRoom(run, host, START_NEEDS);
      if (room !== undefined) await room;
      // While room was made, others may have started.
    } while (isFull() && !isOff());
    if (isOff()) return { kind: 'stopped', started: false };
    if (host.capacity.isFull()) return unstartedFor(host, wish);
    const crossed = run.wouldCross(['agent:children', 'agent:depth']);
    if (crossed?.limit.onReach === 'refuse') {
      const text = refusedText(crossed.key, crossed.limit.max);
      return { kind: 'refused', text, breach: crossed };
    }
    const ledger = ledgerOf(run.state);
    const reserved = reserve(ledger, countOut());
    if (crossed !== null || reserved.kind === 'none') {
      const none = reserved.kind === 'none' ? breachOf(ledger, reserved.bound) : null;
      const breach = crossed ?? none;
      if (breach !== null) run.breach(breach);
      return { kind: 'stopped', started: false };
    }
    return await startAndAwait(run, host, wish, reserved.leases);
  } finally {
    countOut();
  }
}

/** A run does not hand over while children live, so the last of many find no room in its history. */
function unstartedFor(host: Host, { callId, agent }: ChildWish): ChildOutcome {
  const runId = `${host.address}/${callId}`;
  const failure = { runId, agent, status: 'error', reason: 'history_full', message: FULL } as const;
  const text = childFailureText(agent, failure.status, failure.reason, FULL);
  return { kind: 'failed', text, started: false, failure };
}

const FULL =
  'It was not started: the history of the run above has no room for it. Ask for fewer at once, or let an agent below ask for them.';

async function startAndAwait(
  run: Run,
  host: Host,
  { callId, agent, input, onAbort }: ChildWish,
  leases: readonly Lease[],
): Promise<ChildOutcome> {
  const childId = `${host.address}/${callId}`;
  const parent = linkOf(run, host, { callId, agent, leases });
  const startedAt = host.now();
  const child: OpenChild = {
    childId,
    callId,
    agent,
    path: parent.path,
    startedAt,
    number: 0,
    totals: {},
    leases,
    answered: 0,
    pending: [],
  };
  run.record({ type: 'agent:child:spawn', childId, childAgent: agent, callId }, { child });
  const order = { childId, callId, input: { v: 1, agent, ...input, parent } } as const;
  const end = await host.runChild(order, () => cancelOf(run, host, onAbort));
  const failure = settle(run, host, child, end);
  const { status, reason, message } = failure;
  if (end.kind === 'ended' && status === 'success') {
    return { kind: 'value', value: end.step.value, step: end.step };
  }
  if (isStopped(run, host) || isInterrupted(host)) return { kind: 'stopped', started: true };
  const text = childFailureText(agent, status, reason, message);
  return { kind: 'failed', text, started: end.kind !== 'unstarted', failure };
}

/** Records the end of a child: what it spent is part of its parent's totals, its reservations are gone. */
function settle(
  run: Run,
  host: Host,
  { childId, agent, startedAt }: OpenChild,
  end: ChildEnd,
): ChildFailure {
  const known = (run.state.children ?? []).find((child) => child.childId === childId);
  const child = known ?? { totals: {}, leases: [] };
  const isCharged = end.kind === 'lost' && known?.final !== true;
  const told = end.kind === 'ended' ? totalsOf(end.step.stats) : {};
  const heard = isCharged ? chargedTotals(child) : addedTotals(child, told);
  const { status, reason, message } = end.kind === 'ended' ? end.step : lossOf(end);
  const exceeded = end.kind === 'ended' ? end.step.exceededLimit : undefined;
  const isFromAbove = status === 'limit_exceeded' && exceeded?.origin !== 'self';
  const durationMs = host.now() - startedAt;
  const usage =
    end.kind === 'ended'
      ? end.step.usage
      : { ...usageOf({ counters: heard.totals, gauges: {} }), durationMs };
  run.record(
    {
      type: 'agent:child:complete',
      childId,
      status,
      reason,
      ...heard,
      durationMs,
      ...(isCharged ? { charged: true as const } : {}),
    },
    { summary: { childId, agent, status, reason, usage } },
  );
  return {
    runId: end.kind === 'ended' ? end.step.runId : childId,
    agent,
    status,
    reason,
    ...(message === undefined ? {} : { message }),
    ...(isFromAbove && exceeded !== undefined ? { breach: exceeded } : {}),
  };
}

function lossOf(end: Exclude<ChildEnd, { readonly kind: 'ended' }>): {
  readonly status: Step['status'];
  readonly reason: string;
  readonly message: string;
} {
  const { message } = end;
  return end.kind === 'lost' && end.canceled === true
    ? { status: 'canceled', reason: 'canceled', message }
    : { status: 'error', reason: 'internal', message };
}

function linkOf(
  { state }: Run,
  host: Host,
  child: { readonly callId: string; readonly agent: string; readonly leases: readonly Lease[] },
): ParentLink {
  const { runId, agentPath, depth, iteration, head, parent, limits } = state;
  const self = { runId, agent: head.spec.name };
  const depthLimit = depthLimitOf(limits);
  return {
    v: 1,
    workflowId: host.address,
    ...self,
    callId: child.callId,
    rootRunId: parent?.rootRunId ?? runId,
    path: `${agentPath}/${iteration}/${child.agent}`,
    depth: depth + 1,
    ...(depthLimit === undefined ? {} : { depthLimit }),
    deadlines: deadlinesBelow(state),
    leases: child.leases,
  };
}

/** A call of a tool that is an agent: its arguments fit the schema. */
export async function callChild(
  run: Run,
  host: Host,
  call: {
    readonly callId: string;
    readonly spec: ToolSpec;
    readonly args: JsonObject;
    readonly starters?: Starters | undefined;
  },
): Promise<CallEnd> {
  const { callId, spec, args, starters } = call;
  const { agent = spec.name, model } = spec.agent ?? {};
  const { task, ...context } = args;
  const text = typeof task === 'string' ? task : '';
  const given = typeof task === 'string' ? context : args;
  const input = {
    task: { text },
    ...(Object.keys(given).length === 0 ? {} : { context: given }),
    ...(model === undefined ? {} : { model }),
  };
  const outcome = await runChild(run, host, { callId, agent, input, starters });
  return callEndOf(run, host, spec, outcome);
}

function callEndOf(run: Run, host: Host, spec: ToolSpec, outcome: ChildOutcome): CallEnd {
  const endedAt = host.now();
  const ran = { attempts: 1, started: true };
  switch (outcome.kind) {
    case 'value': {
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      return {
        result: { outcome: 'ok', ...capChild(outcome.value, spec, toolchain), ...ran },
        endedAt,
      };
    }
    case 'failed':
      return outcome.started
        ? { result: { outcome: 'error', error: outcome.text, ...ran }, endedAt }
        : unstarted('error', outcome.text, endedAt);
    case 'refused':
      return unstarted('refused', outcome.text, endedAt);
    case 'stopped':
      return outcome.started
        ? { result: { outcome: 'canceled', error: canceledCallText, ...ran }, endedAt }
        : unstarted('canceled', canceledCallText, endedAt);
  }
}

/** A value that is too long becomes text, which a model reads: hidden fields are masked before. */
function capChild(
  value: Json,
  { maxResultBytes }: ToolSpec,
  toolchain: Parameters<typeof capOutput>[2],
): CappedOutput {
  const capped = capOutput(value, maxResultBytes, toolchain);
  return capped.cut === undefined
    ? capped
    : capOutput(maskHidden(value), maxResultBytes, toolchain);
}

/** What stands for a hidden field where a model reads. */
const HIDDEN = '<hidden>';

/** `value` as a model may see it: fields whose names begin with `_` say only that they are there. */
export function maskHidden(value: Json): Json {
  if (Array.isArray(value)) return value.map(maskHidden);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isHidden(name) ? HIDDEN : maskHidden(inner),
    ]),
  );
}
