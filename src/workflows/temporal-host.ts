/**
 * The Host over Temporal: each call is an activity in a scope of its own.
 *
 * I1  All activities share one cancellable scope, that of the caller, until `abort` cancels it; then
 *     the next ones get a new one. The workflow's own cancellation reaches it too: what is in flight
 *     ends, and the mailbox says why.
 * I2  No call rejects: failures become outcomes here, and a bug becomes the failure of the run.
 * I3  The transcript goes to the worker by a sink just before its model activity is scheduled.
 * I4  Events are published before the workflow waits for anything, in one batch.
 * I5  Nothing here decides: time, retries and queues stand in `activity-options.ts`.
 */
import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type {
  ApprovalOutcome,
  Host,
  JudgeOutcome,
  LiteralsOutcome,
  ModelOutcome,
  ToolEnd,
} from '../core/run/host.ts';
import type { Mailbox } from '../core/run/inbox.ts';
import type { RunLog } from '../core/run/run-log.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type {
  JudgeResult,
  LiteralFindings,
  LiteralVerdict,
  ToolOrder,
  ToolResult,
} from '../core/contract/outcome.ts';
import type { ProgressMessage } from '../core/contract/tree-messages.ts';
import {
  CHECK_OPTIONS,
  judgeOptions,
  localToolOptions,
  modelOptions,
  toolOptions,
} from './activity-options.ts';
import { retryOf, toCheckOutcome, toModelOutcome, toToolResult } from './call-failures.ts';
import { createChildRuns } from './children.ts';
import { createWaits, startTimer } from './host-waits.ts';
import { tryAgain } from './retry-model.ts';
import { createTranscriptFeed, sinks } from './sinks.ts';
import { fitsHandover } from './start.ts';

/** The Host of a workflow, and what its handlers may know of it. */
export interface TemporalHost extends Host {
  /** What is in flight, in words: `model gpt-5`, `tool search`. */
  inFlight(): readonly string[];
  /** Sends what was published to the worker's listeners; called before each wait, and at the end. */
  flush(): void;
  /** Tells the parent for the last time, before the workflow closes without a Step. */
  sayLast(progress: ProgressMessage): Promise<void>;
}

/** The service ends an execution at 51,200 events or 50 MB; calls in flight still have to end. */
const MAX_EVENTS = 45_000;
const MAX_HISTORY_BYTES = 44_000_000;

type ToolActivities = Pick<EverloopActivities, 'callTool' | 'searchTools'>;

/** What a host is made of. */
export interface TemporalHostParts {
  readonly runtime: ActivityRuntime;
  readonly mailbox: Mailbox;
  readonly log: RunLog;
  /** Whether something waits for people or the outside, for lists of runs. Default: never. */
  readonly waitsForPeople?: () => boolean;
  /** Told what a timer's callback threw: nobody awaits it, and it must end the run all the same. */
  readonly onBug: (error: unknown) => void;
}

/**
 * A Host over the activities of this worker fleet. Call it, and all that uses it, inside a
 * cancellable scope of its own: see I1.
 */
export function createTemporalHost(parts: TemporalHostParts): TemporalHost {
  const { runtime, mailbox, log, onBug } = parts;
  const feed = createTranscriptFeed();
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const approvals = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const inFlight: string[] = [];
  let unpublished: AgentEvent[] = [];
  let announced = workflowInfo().memo?.['waiting'] === true;
  const ambient = CancellationScope.current();
  // Beside the ambient scope, under the workflow's own: an abort of one does not reach the other.
  const newScope = (): CancellationScope =>
    new CancellationScope({
      cancellable: true,
      ...(ambient.parent === undefined ? {} : { parent: ambient.parent }),
    });
  const waits = createWaits(newScope, onBug);
  /** Calls that can be ended alone. */
  const separate = new Map<string, CancellationScope>();
  const children = createChildRuns(onBug);
  let scope = ambient;
  let deadline: CancellationScope | null = null;

  // Lists of runs read the memo, for which they need no worker. An event of history on each change.
  const announce = (): void => {
    const waits = parts.waitsForPeople?.() ?? false;
    if (waits === announced) return;
    announced = waits;
    upsertMemo({ waiting: waits });
  };
  const flush = (): void => {
    announce();
    if (unpublished.length === 0) return;
    sinks.events.publish(unpublished);
    unpublished = [];
  };
  /** Schedules an activity, and gives what it came to, whichever way it ended. */
  const call = <Result, Outcome>(
    words: string,
    schedule: () => Promise<Result>,
    onResult: (result: Result) => Outcome,
    onFailure: (error: unknown) => Outcome | Promise<Outcome>,
    own: CancellationScope | null = null,
  ): Promise<Outcome> => {
    flush();
    inFlight.push(words);
    const settle = (): void => {
      inFlight.splice(inFlight.indexOf(words), 1);
      waits.wake();
    };
    const within = own ?? scope;
    const begun = within === ambient ? schedule() : within.run(schedule);
    return begun.then(
      (result) => (settle(), onResult(result)),
      (error: unknown) => {
        const outcome = onFailure(error);
        if (!(outcome instanceof Promise)) return (settle(), outcome);
        return outcome.then((late) => (settle(), late));
      },
    );
  };

  const byTool = new Map<string, ToolActivities>();
  const activitiesOf = (tool: ToolSpec): ToolActivities => {
    const known = byTool.get(tool.name);
    if (known !== undefined) return known;
    const activities = tool.local
      ? proxyLocalActivities<EverloopActivities>(localToolOptions(tool))
      : proxyActivities<EverloopActivities>(toolOptions(tool, runtime));
    byTool.set(tool.name, activities);
    return activities;
  };
  const separateScope = (callId: string): CancellationScope => {
    const own = new CancellationScope({ cancellable: true, parent: scope });
    separate.set(callId, own);
    return own;
  };
  const runTool = (
    order: ToolOrder,
    tool: ToolSpec,
    activity: 'callTool' | 'searchTools',
    isSeparate = false,
  ): Promise<ToolEnd> => {
    const { callId } = order;
    const own = isSeparate ? separateScope(callId) : null;
    const endedWith = (result: ToolResult): ToolEnd => {
      separate.delete(callId);
      return { result, endedAt: Date.now() };
    };
    return call(
      `tool ${tool.name}`,
      () => activitiesOf(tool)[activity](order),
      endedWith,
      (error) => endedWith(toToolResult(error, tool)),
      own,
    );
  };

  return {
    address: workflowInfo().workflowId,
    mailbox,
    now: () => Date.now(),
    inFlight: () => [...inFlight],
    callModel: (order, state, mayTryAgain, separateId) => {
      if (order.inline === undefined) feed(state);
      const own = separateId === undefined ? null : separateScope(separateId);
      // An abort replaces `scope`; what is tried again belongs to the one in which the call began.
      const retrying = { scope: own ?? scope, runtime, mayTryAgain };
      const ended = (outcome: ModelOutcome): ModelOutcome => {
        if (separateId !== undefined) separate.delete(separateId);
        return outcome;
      };
      return call<ModelOutcome, ModelOutcome>(
        `model ${order.model}`,
        () => models.callModel(order),
        ended,
        (error) => tryAgain(order, toModelOutcome(error), retryOf(error), retrying).then(ended),
        own,
      );
    },
    callTool: (order, tool, isSeparate) => runTool(order, tool, 'callTool', isSeparate),
    searchTools: (order, tool, isSeparate) => runTool(order, tool, 'searchTools', isSeparate),
    judgeAnswer: (order) =>
      call<JudgeResult, JudgeOutcome>(
        'judge',
        () => judges.judgeAnswer(order),
        (result) => ({ kind: 'judged', result }),
        toCheckOutcome,
      ),
    needsApproval: (order, tool) =>
      call<boolean, ApprovalOutcome>(
        `approval check of ${tool.name}`,
        () => approvals.needsApproval(order),
        (needed) => ({ kind: 'known', needed }),
        toCheckOutcome,
      ),
    checkLiterals: (order) =>
      call<readonly (LiteralVerdict | LiteralFindings)[], LiteralsOutcome>(
        'argument check',
        () => approvals.checkLiterals(order),
        (checked) => ({
          kind: 'checked',
          verdicts: checked.filter((one) => one.kind !== 'literal'),
          literals: checked.filter((one) => one.kind === 'literal'),
        }),
        toCheckOutcome,
      ),
    runChild: (order, cancel) => {
      flush();
      const words = `agent ${order.input.agent}`;
      inFlight.push(words);
      return children.run(order, cancel).then((end) => {
        inFlight.splice(inFlight.indexOf(words), 1);
        waits.wake();
        return end;
      });
    },
    tellParent: children.tellParent,
    tellChild: children.tellChild,
    sayLast: children.sayLast,
    isIdle: () => inFlight.length === 0,
    abort: () => {
      waits.wake();
      if (inFlight.length === 0) return;
      children.abort();
      const aborted = scope;
      scope = newScope();
      aborted.cancel();
    },
    abortCall: (callId) => {
      separate.get(callId)?.cancel();
      children.abortOne(`${workflowInfo().workflowId}/${callId}`);
      waits.wake();
    },
    waitUntil: (until, at) => {
      flush();
      return waits.until(until, at);
    },
    setDeadline: (at, onDue) => {
      deadline?.cancel();
      deadline = at === null ? null : newScope();
      if (deadline !== null && at !== null) startTimer(deadline, at - Date.now(), onDue, onBug);
    },
    handoverDue: () => workflowInfo().continueAsNewSuggested,
    isFull: () => {
      const { historyLength, historySize } = workflowInfo();
      return historyLength > MAX_EVENTS || historySize > MAX_HISTORY_BYTES;
    },
    fitsHandover: (state) => fitsHandover(state, mailbox.peek()),
    publish: (event, entry) => {
      log.add(event, entry);
      unpublished.push(event);
      waits.wake();
    },
    flush,
    wake: () => waits.wake(),
  };
}
