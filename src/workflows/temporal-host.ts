/**
 * The Host over Temporal: each call is an activity, and each child a child workflow.
 *
 * I1  No call rejects: failures become outcomes here, and a bug becomes the failure of the run.
 * I2  The transcript goes to the worker by a sink just before its model activity is scheduled.
 * I3  Events are published in one batch before the workflow waits for anything.
 * I4  Nothing here decides: time, retries and queues are in `activity-options.ts`.
 */
import {
  proxyActivities,
  proxyLocalActivities,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { Overrun } from '../core/contract/messages.ts';
import type {
  ApprovalOutcome,
  JudgeOutcome,
  LiteralsOutcome,
  ModelOutcome,
  ToolEnd,
} from '../core/contract/host-outcome.ts';
import type {
  JudgeResult,
  LiteralFindings,
  LiteralVerdict,
  ToolResult,
} from '../core/contract/outcome.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type { ProgressMessage } from '../core/contract/tree-messages.ts';
import type { Host, Link } from '../core/run/host.ts';
import type { Mailbox } from '../core/run/inbox.ts';
import type { RunLog } from '../core/run/run-log.ts';
import { createWaits, type Waits } from '../core/run/waits.ts';
import { SEARCH_TOOL } from '../core/tool-search/query.ts';
import {
  CHECK_OPTIONS,
  judgeOptions,
  localToolOptions,
  modelOptions,
  SLICE_OPTIONS,
  toolOptions,
} from './activity-options.ts';
import { toCheckOutcome, toToolResult } from './call-failures.ts';
import { createChildRuns, type ChildRuns } from './children.ts';
import { createFlight, type Flight } from './flight.ts';
import { createComputing } from './overrun.ts';
import { retryModelCall } from './retry-model.ts';
import { createTranscriptFeed, sinks } from './sinks.ts';
import { fitsHandover } from './start.ts';
import { startTimer } from './timer.ts';

/** The Host of a workflow, and what its handlers may know of it. */
export interface TemporalHost extends Host {
  /** What is in flight, in words: `model gpt-5`, `tool search`. */
  inFlight(): readonly string[];
  /** Sends unpublished events to the worker's listeners; called before each wait and at the end. */
  flush(): void;
  /** Sends the last report to the parent before the workflow closes without a Step. */
  sendLast(progress: ProgressMessage): Promise<void>;
}

/** The patch of links whose limits act at once. */
export const LIMITS_AT_ONCE = 'limits-at-once';

/** The service ends an execution at 51,200 events or 50 MB; calls in flight still have to end. */
const MAX_EVENTS = 45_000;
const MAX_HISTORY_BYTES = 44_000_000;

/** What a host is made of. */
export interface TemporalHostParts {
  readonly runtime: ActivityRuntime;
  readonly mailbox: Mailbox;
  readonly log: RunLog;
  /** See `Link`. */
  readonly limitsAtOnce: boolean;
  /** What must not be computed again. Default: nothing. */
  readonly overrun?: () => Overrun | null;
  /** Whether something waits for people or outside work, for lists of runs. Default: never. */
  readonly waitsForPeople?: () => boolean;
  /** Called when a timer's callback throws: nothing awaits it, but it must still end the run. */
  readonly onBug: (error: unknown) => void;
}

/**
 * A Host over the activities of this worker fleet. Call it, and everything that uses it, inside a
 * cancellable scope of its own: an abort cancels that scope.
 */
export function createTemporalHost(parts: TemporalHostParts): TemporalHost {
  const { runtime, mailbox, log, onBug } = parts;
  const unpublished: AgentEvent[] = [];
  const flush = createFlush(parts, () => unpublished.splice(0));
  const flight = createFlight(() => waits.wake());
  const timer = (at: number, onDue: () => void): (() => void) => {
    const scope = flight.newScope();
    startTimer(scope, at - Date.now(), onDue, onBug);
    return () => scope.cancel();
  };
  const waits = createWaits(timer);
  const children = createChildRuns(onBug);
  const computing = createComputing(parts.overrun ?? (() => null));
  let cancelDeadline = (): void => undefined;

  return {
    link: linkOf(parts),
    mailbox,
    waits: {
      wake: waits.wake,
      until: (condition, deadline) => {
        flush();
        return waits.until(condition, deadline);
      },
    },
    now: () => Date.now(),
    computing: { run: computing.run, endSlice: () => endSlice(flight) },
    ...callsOf(runtime, { run: (call) => (flush(), flight.run(call)) }),
    runChild: (order, cancel) => {
      flush();
      const end = flight.add(`agent ${order.input.agent}`);
      return children.run(order, cancel).then((ended) => (end(), ended));
    },
    send: children.send,
    sendLast: children.sendLast,
    isIdle: flight.isIdle,
    inFlight: flight.labels,
    abort: (abortId) => abort(flight, children, waits, abortId),
    setDeadline: (at, onDue) => {
      cancelDeadline();
      cancelDeadline = at === null ? () => undefined : timer(at, onDue);
    },
    publish: (event, entry) => {
      log.add(event, entry);
      unpublished.push(event);
      computing.passed(event.seq);
      waits.wake();
    },
    flush,
  };
}

/** Sends what `takeEvents` gives, and says in the memo whether the run waits for people. */
function createFlush(
  { waitsForPeople }: TemporalHostParts,
  takeEvents: () => readonly AgentEvent[],
): () => void {
  let announced = workflowInfo().memo?.['waiting'] === true;
  return () => {
    // Lists of runs read the memo, since that needs no worker. Each change costs one event of
    // history.
    const waiting = waitsForPeople?.() ?? false;
    if (waiting !== announced) upsertMemo({ waiting });
    announced = waiting;
    const events = takeEvents();
    if (events.length > 0) sinks.events.publish(events);
  };
}

function linkOf({ runtime, mailbox, limitsAtOnce }: TemporalHostParts): Link {
  return {
    address: workflowInfo().workflowId,
    limitsAtOnce,
    rules: runtime.rules ?? 1,
    isHandoverDue: () => workflowInfo().continueAsNewSuggested,
    isFull: () => {
      const { historyLength, historySize } = workflowInfo();
      return historyLength > MAX_EVENTS || historySize > MAX_HISTORY_BYTES;
    },
    fits: (state) => fitsHandover(state, mailbox.peek()),
  };
}

function abort(flight: Flight, children: ChildRuns, waits: Waits, abortId?: string): void {
  if (abortId !== undefined) {
    flight.abort(abortId);
    children.abort(`${workflowInfo().workflowId}/${abortId}`);
    return waits.wake();
  }
  waits.wake();
  if (flight.isIdle()) return;
  children.abort();
  flight.abort();
}

/** The wait between two slices of a program: an abort ends it. */
function endSlice({ run }: Flight): Promise<void> {
  const slices = proxyLocalActivities<EverloopActivities>(SLICE_OPTIONS);
  return run<void, void>({
    label: 'program',
    schedule: () => slices.endSlice(),
    onResult: () => undefined,
    onFailure: () => undefined,
  });
}

type Calls = Pick<
  Host,
  'callModel' | 'callTool' | 'judgeAnswer' | 'needsApproval' | 'checkLiterals'
>;

/** The calls that are activities. */
function callsOf(runtime: ActivityRuntime, { run }: Pick<Flight, 'run'>): Calls {
  const feed = createTranscriptFeed();
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const checks = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const toolActivities = createToolActivities(runtime);
  return {
    callModel: (order, state, { mayRetry, maxOutputAfter, abortId }) => {
      if (order.inline === undefined) feed(state);
      return run<ModelOutcome, ModelOutcome>({
        label: `model ${order.model}`,
        abortId,
        schedule: () => models.callModel(order),
        onResult: (outcome) => outcome,
        onFailure: (error, scope) =>
          retryModelCall(order, error, { scope, runtime, mayRetry, maxOutputAfter }),
      });
    },
    callTool: (order, tool, { abortId } = {}) => {
      const ended = (result: ToolResult): ToolEnd => ({ result, endedAt: Date.now() });
      return run<ToolResult, ToolEnd>({
        label: `tool ${tool.name}`,
        abortId,
        schedule: () => toolActivities(tool)(order),
        onResult: ended,
        onFailure: (error) => ended(toToolResult(error, tool)),
      });
    },
    judgeAnswer: (order) =>
      run<JudgeResult, JudgeOutcome>({
        label: 'judge',
        schedule: () => judges.judgeAnswer(order),
        onResult: (result) => ({ kind: 'judged', result }),
        onFailure: toCheckOutcome,
      }),
    needsApproval: (order, tool) =>
      run<boolean, ApprovalOutcome>({
        label: `approval check of ${tool.name}`,
        schedule: () => checks.needsApproval(order),
        onResult: (needed) => ({ kind: 'known', needed }),
        onFailure: toCheckOutcome,
      }),
    checkLiterals: (order) =>
      run<readonly (LiteralVerdict | LiteralFindings)[], LiteralsOutcome>({
        label: 'argument check',
        schedule: () => checks.checkLiterals(order),
        onResult: (checked) => ({
          kind: 'checked',
          verdicts: checked.filter((one) => one.kind !== 'literal'),
          literals: checked.filter((one) => one.kind === 'literal'),
        }),
        onFailure: toCheckOutcome,
      }),
  };
}

type ToolActivity = EverloopActivities['callTool'];

/**
 * The activity of each tool. Searches have one of their own, so that histories distinguish them.
 */
function createToolActivities(runtime: ActivityRuntime): (tool: ToolSpec) => ToolActivity {
  const known = new Map<string, ToolActivity>();
  return (tool) => {
    const found = known.get(tool.name);
    if (found !== undefined) return found;
    const activities = tool.local
      ? proxyLocalActivities<EverloopActivities>(localToolOptions(tool))
      : proxyActivities<EverloopActivities>(toolOptions(tool, runtime));
    const activity = tool.name === SEARCH_TOOL ? activities.searchTools : activities.callTool;
    known.set(tool.name, activity);
    return activity;
  };
}
