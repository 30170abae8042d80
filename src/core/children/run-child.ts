/**
 * A child run from its request to its end: its budgets are reserved, it runs, and its totals become
 * part of its parent's.
 *
 * I1  A child is in the state before it is started and until its end is recorded, so everything
 *     that it may spend is always counted.
 * I2  Its end is recorded as soon as it comes; the end of its call is recorded later.
 */
import { defined } from '../base/defined.ts';
import { idBelow } from '../base/ids.ts';
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
import { unstarted, type CallEnd } from '../contract/outcome.ts';
import { cancelOf } from './tree-handlers.ts';
import type { ChildEnd } from '../contract/host-outcome.ts';
import type { AgentInput } from '../contract/input.ts';
import { callbacksBelow } from '../run/callback-message.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { effectsBelow } from '../tree/fork-effects.ts';
import { deadlinesBelow, type Run } from '../run/run.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { Step } from '../contract/step.ts';
import { usageOf } from '../run/step-of.ts';

/** How many children of one run may live at once. Each costs its parent events; the others wait. */
const MAX_LIVE_CHILDREN = 200;

/**
 * Children that are about to start together. Each leaves the count when it starts, or when it turns
 * out not to start.
 */
export interface StartGroup {
  children: number;
}

/** A request for a child. */
export interface ChildRequest {
  /** Unique in the run: the child's address ends with it. */
  readonly callId: string;
  readonly agent: string;
  readonly input: Pick<
    AgentInput,
    'task' | 'context' | 'contextDescriptions' | 'model' | 'memory' | 'limits' | 'fork'
  >;
  readonly starting?: StartGroup | undefined;
  /** The message of a cancel that ends only this child. Default: that it is no longer needed. */
  readonly onAbort?: string | undefined;
}

/** A child that gave no value. */
export interface ChildFailure extends Pick<Step, 'agent' | 'status' | 'reason' | 'message'> {
  /** Its id, by which it is reached. */
  readonly id: string;
  /** The service's id of its first execution; absent if it ended without a Step. */
  readonly runId?: string;
  /** The limit of an ancestor that ended it. */
  readonly breach?: Breach;
}

/** How the request for a child ended. */
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
  /** The run must stop, or an input interrupts. */
  | { readonly kind: 'stopped'; readonly started: boolean };

/** The least that a child must get to be worth starting: one unit of each. */
const START_NEEDS: Numbers = {
  'agent:children': 1,
  'agent:model_calls': 1,
  'agent:input_tokens': 1,
  'agent:output_tokens': 1,
  'agent:total_tokens': 1,
  'agent:cost_microusd': 1,
};

/** Starts a child when there is room for it, and waits for its end. */
export async function runChild(run: Run, request: ChildRequest): Promise<ChildOutcome> {
  const { starting } = request;
  let isCounted = false;
  /** Takes the child out of its group; returns how many were left to start, itself included. */
  const leaveGroup = (): number => {
    const count = Math.max(1, starting?.children ?? 1);
    if (starting !== undefined && !isCounted) starting.children -= 1;
    isCounted = true;
    return count;
  };
  try {
    const isFull = (): boolean => (run.state.children ?? []).length >= MAX_LIVE_CHILDREN;
    do {
      while (isFull() && !run.mustLeave()) {
        await run.host.waits.until(() => !isFull() || run.mustLeave());
      }
      const budget = ensureBudget(run, START_NEEDS);
      if (budget !== undefined) await budget;
      // Others may have started meanwhile.
    } while (isFull() && !run.mustLeave());
    if (run.mustLeave()) return { kind: 'stopped', started: false };
    if (run.host.link.isFull()) return unstartedFor(run, request);
    const crossed = run.wouldCross(['agent:children', 'agent:depth']);
    if (crossed?.limit.onReach === 'refuse') {
      const text = refusedText(crossed.key, crossed.limit.max);
      return { kind: 'refused', text, breach: crossed };
    }
    const { ledger } = run;
    const reserved = reserve(ledger, leaveGroup());
    if (crossed !== null || reserved.kind === 'none') {
      const none = reserved.kind === 'none' ? breachOf(ledger, reserved.bound) : null;
      const breach = crossed ?? none;
      if (breach !== null) run.breach(breach);
      return { kind: 'stopped', started: false };
    }
    return await startAndAwait(run, request, reserved.leases);
  } finally {
    leaveGroup();
  }
}

/** The outcome for a child that history has no room for: no run hands over while children live. */
function unstartedFor({ host }: Run, { callId, agent }: ChildRequest): ChildOutcome {
  const id = idBelow(host.link.address, callId);
  const failure = { id, agent, status: 'error', reason: 'history_full', message: FULL } as const;
  const text = childFailureText(agent, failure.status, failure.reason, FULL);
  return { kind: 'failed', text, started: false, failure };
}

const FULL =
  'It was not started: the history of the run above has no room for it. Ask for fewer at once, or let an agent below ask for them.';

async function startAndAwait(
  run: Run,
  { callId, agent, input, onAbort }: ChildRequest,
  leases: readonly Lease[],
): Promise<ChildOutcome> {
  const childId = idBelow(run.host.link.address, callId);
  const parent = linkOf(run, { callId, agent, leases });
  const startedAt = run.host.now();
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
  if (parent.byLoop === true) run.host.link.probe?.child({ callId, agent });
  const onEvent = callbacksBelow(run.state.head.spec.onEvent);
  const order = {
    childId,
    callId,
    input: {
      v: 1 as const,
      agent,
      ...defined({ tenant: run.state.tenant }),
      ...input,
      parent,
      ...defined({ onEvent }),
    },
  } as const;
  const end = await run.host.runChild(order, () => cancelOf(run, onAbort));
  const failure = settle(run, child, end);
  const { status, reason, message } = failure;
  if (end.kind === 'ended' && status === 'success') {
    return { kind: 'value', value: end.step.value, step: end.step };
  }
  if (run.mustLeave()) return { kind: 'stopped', started: true };
  const text = childFailureText(agent, status, reason, message);
  return { kind: 'failed', text, started: end.kind !== 'unstarted', failure };
}

/** Records the end of a child: its spending joins its parent's totals, its reservations end. */
function settle(run: Run, { childId, agent, startedAt }: OpenChild, end: ChildEnd): ChildFailure {
  const known = (run.state.children ?? []).find((child) => child.childId === childId);
  const child = known ?? { totals: {}, leases: [] };
  const isCharged = end.kind === 'lost' && known?.final !== true;
  const reported = end.kind === 'ended' ? totalsOf(end.step.stats) : {};
  const last = isCharged ? chargedTotals(child) : addedTotals(child, reported);
  const { status, reason, message } = end.kind === 'ended' ? end.step : lossOf(end);
  const exceeded = end.kind === 'ended' ? end.step.exceededLimit : undefined;
  const isFromAbove = status === 'limit_exceeded' && exceeded?.origin !== 'self';
  const durationMs = run.host.now() - startedAt;
  const usage =
    end.kind === 'ended'
      ? end.step.usage
      : { ...usageOf({ counters: last.totals, gauges: {} }), durationMs };
  run.record(
    {
      type: 'agent:child:complete',
      childId,
      status,
      reason,
      ...last,
      durationMs,
      ...defined({ charged: isCharged ? (true as const) : undefined }),
    },
    { summary: { childId, agent, status, reason, usage } },
  );
  return {
    id: childId,
    agent,
    status,
    reason,
    ...defined({
      runId: end.kind === 'ended' ? end.step.runId : undefined,
      message,
      breach: isFromAbove ? exceeded : undefined,
    }),
  };
}

function lossOf(
  end: Exclude<ChildEnd, { readonly kind: 'ended' }>,
): Pick<Step, 'status' | 'reason' | 'message'> {
  const { message } = end;
  return end.kind === 'lost' && end.canceled === true
    ? { status: 'canceled', reason: 'canceled', message }
    : { status: 'error', reason: 'internal', message };
}

function linkOf(
  { host, state }: Run,
  child: { readonly callId: string; readonly agent: string; readonly leases: readonly Lease[] },
): ParentLink {
  const { runId, agentPath, depth, iteration, head, parent, limits, conversation, trace } = state;
  const by = state.by ?? undefined;
  const isCall = (state.openCalls ?? []).some(({ callId }) => callId === child.callId);
  const byLoop = isCall ? undefined : (true as const);
  const self = { runId, agent: head.spec.name };
  const depthLimit = depthLimitOf(limits);
  return {
    v: 1,
    workflowId: host.link.address,
    ...self,
    callId: child.callId,
    rootRunId: parent?.rootRunId ?? runId,
    path: `${agentPath}/${iteration}/${child.agent}`,
    depth: depth + 1,
    ...defined({ depthLimit, conversation, by, byLoop, trace, effects: effectsBelow(state) }),
    deadlines: deadlinesBelow(state),
    leases: child.leases,
  };
}

/** A call of a tool that is an agent, with arguments that fit its schema. */
export async function callChild(
  run: Run,
  call: {
    readonly callId: string;
    readonly spec: ToolSpec;
    readonly args: JsonObject;
    readonly starting?: StartGroup | undefined;
  },
): Promise<CallEnd> {
  const { callId, spec, args, starting } = call;
  const { agent = spec.name, model } = spec.agent ?? {};
  const { task, ...context } = args;
  const text = typeof task === 'string' ? task : '';
  const given = typeof task === 'string' ? context : args;
  const input = {
    task: { text },
    ...defined({ context: Object.keys(given).length === 0 ? undefined : given, model }),
  };
  const outcome = await runChild(run, { callId, agent, input, starting });
  return callEndOf(run, spec, outcome);
}

function callEndOf(run: Run, spec: ToolSpec, outcome: ChildOutcome): CallEnd {
  const endedAt = run.host.now();
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

/** A value that is too long becomes text that a model reads, so hidden fields are masked first. */
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

/** Replaces the value of a hidden field in what a model reads. */
const HIDDEN = '<hidden>';

/** `value` as a model may see it: fields whose names begin with `_` show only their names. */
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
