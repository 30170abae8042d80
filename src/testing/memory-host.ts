/**
 * The Host in one process, without a server: the same loop, definitions, tools, validators and model
 * adapter as on a worker, with time that moves only when somebody sleeps. For tests.
 */
import type { AgentEvent } from '../core/contract/events.ts';
import type {
  ChildEnd,
  ChildOrder,
  Host,
  MayTryAgain,
  ModelLoss,
  ModelOrder,
  ModelOutcome,
  TranscriptView,
} from '../core/run/host.ts';
import { createMailbox, type Inbox, type Mailbox } from '../core/run/inbox.ts';
import { inlineRequest, requestOfOrder } from '../core/ask/order-request.ts';
import { scratchpadMessages, type RunState } from '../core/run/run-state.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import { addUsage, noUsage } from '../core/model/usage.ts';
import { openChunkStream, type ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import type { ChildMessage, ParentMessage } from '../core/contract/tree-messages.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Registry, RegisteredAgent } from '../define/definition/definitions.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { redactedErrorText } from '../tools/redacted-error-text.ts';
import { classifyModelError, retryDelayMs } from '../models/model-failures.ts';
import { entryFor } from '../define/model/model-entry.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import { needsPrompt, promptTexts } from '../models/prompt-texts.ts';
import { missingModelText } from '../registry/registry.ts';
import { runJudge } from '../tools/run-judge.ts';
import { runTool } from '../tools/run-tool.ts';
import type { FakeClock } from './fake-clock.ts';

/** Tries of a model call, as on a worker. */
const MODEL_TRIES = 8;
const JUDGE_TRIES = 3;

const APPROVAL_TRIES = 3;

/** Somebody who waits for something to hold, or for a time. */
interface Waiter {
  readonly until: () => boolean;
  readonly resolve: () => void;
  isDue: boolean;
  disarm: () => void;
}

/** What a memory host is made of. */
export interface MemoryHostParts {
  readonly registry: Registry;
  readonly agent: RegisteredAgent;
  readonly clock: FakeClock;
  readonly inbox: Inbox;
  readonly chunks: ChunkPublisher;
  /** Hears each event and the entry that came with it. */
  readonly onEvent: (event: AgentEvent, entry: Entry | undefined) => void;
  /** Asked at each iteration boundary. */
  readonly handoverDue: () => boolean;
  /** Whether nothing more may begin in this link. Default: never. */
  readonly isFull?: () => boolean;
  /** Whether a hand-over could carry the state. Default: any. */
  readonly fitsHandover?: (state: RunState) => boolean;
  /** The runs above and below. Default: none, and a child cannot be started. */
  readonly tree?: MemoryTree;
}

/** How a run in memory reaches the others of its tree. */
export interface MemoryTree {
  readonly address: string;
  /** Starts a child; settles with its end. */
  readonly runChild: (order: ChildOrder) => Promise<ChildEnd>;
  readonly tellParent: (message: ParentMessage) => void;
  readonly tellChild: (childId: string, message: ChildMessage) => void;
}

const NO_TREE: MemoryTree = {
  address: 'run-1',
  runChild: ({ childId }) =>
    Promise.resolve({ kind: 'unstarted', message: `this host cannot start ${childId}` }),
  tellParent: () => undefined,
  tellChild: () => undefined,
};

/** A memory host, and the way to wake what waits on it. */
export interface MemoryHost extends Host {
  readonly mailbox: Mailbox;
}

/** A Host in this process. */
export function createMemoryHost(parts: MemoryHostParts): MemoryHost {
  const { agent, clock, tree = NO_TREE } = parts;
  const inFlight = new Set<AbortController>();
  const separate = new Map<string, AbortController>();
  let waiters: readonly Waiter[] = [];
  let disarm = (): void => undefined;

  const abort = (): void => {
    for (const controller of inFlight) controller.abort();
  };
  const mailbox = createMailbox(parts.inbox, abort);
  // A message that a listener sends on the event before a call comes before the call is in flight.
  const isUrgent = (): boolean => {
    const { cancel, waiting } = mailbox.peek();
    return cancel !== null || waiting.some((input) => input.kind === 'interrupt');
  };
  const abortable = async <Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    startsAborted = false,
    callId?: string,
  ): Promise<Result> => {
    const controller = new AbortController();
    if (callId !== undefined) separate.set(callId, controller);
    if (startsAborted) controller.abort();
    inFlight.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      inFlight.delete(controller);
      if (callId !== undefined) separate.delete(callId);
      wake();
    }
  };
  const wake = (): void => {
    const ready = waiters.filter((waiter) => waiter.isDue || waiter.until());
    waiters = waiters.filter((waiter) => !ready.includes(waiter));
    for (const { resolve, disarm: release } of ready) {
      release();
      resolve();
    }
  };

  const runCall: Host['callTool'] = async (order, tool, isSeparate) => {
    const call = (signal: AbortSignal): Promise<ToolResult> =>
      callTool(agent, clock, order, tool, signal);
    const callId = isSeparate === true ? order.callId : undefined;
    const result = await abortable(call, isUrgent(), callId);
    return { result, endedAt: clock.now() };
  };

  return {
    address: tree.address,
    mailbox,
    now: () => clock.now(),
    abort,
    abortCall: (callId) => separate.get(callId)?.abort(),
    wake,
    callModel: (order, state, mayTryAgain, separateId) => {
      const view = { head: state.head, messages: scratchpadMessages(state) };
      const call = { order, view, mayTryAgain };
      return abortable((signal) => callModel(parts, call, signal), isUrgent(), separateId);
    },
    callTool: runCall,
    searchTools: runCall,
    judgeAnswer: (order) =>
      abortable(async (signal) => {
        let message = '';
        for (let attempt = 1; attempt <= JUDGE_TRIES; attempt++) {
          const run = await runJudge(agent, order, { attempt, signal });
          if (run.kind === 'judged') return { kind: 'judged', result: run.result };
          if (run.kind === 'stopped') return { kind: 'aborted' };
          message = run.message;
        }
        return { kind: 'failed', message };
      }),
    needsApproval: (order) =>
      abortable(async (signal) => {
        let message = '';
        for (let attempt = 1; attempt <= APPROVAL_TRIES; attempt++) {
          if (signal.aborted) return { kind: 'aborted' };
          try {
            return { kind: 'known', needed: await isApprovalNeeded(agent, order) };
          } catch (error) {
            message = redactedErrorText(error);
          }
        }
        return { kind: 'failed', message };
      }, isUrgent()),
    checkLiterals: (order) =>
      abortable(async () => ({
        kind: 'checked',
        verdicts: await checkLiterals(agent, order),
        literals: checkProgramLiterals(agent, order.literals),
      })),
    runChild: (order, cancel) =>
      abortable(
        (signal) => {
          const ended = tree.runChild(order);
          const stop = (): void => tree.tellChild(order.childId, cancel());
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
          return ended;
        },
        isUrgent(),
        order.callId,
      ),
    tellParent: tree.tellParent,
    tellChild: tree.tellChild,
    waitUntil: (until, deadline) =>
      new Promise((resolve) => {
        const waiter: Waiter = { until, resolve, isDue: false, disarm: () => undefined };
        if (deadline !== undefined) {
          waiter.disarm = clock.schedule(deadline, () => {
            waiter.isDue = true;
            wake();
          });
        }
        waiters = [...waiters, waiter];
        wake();
      }),
    isIdle: () => inFlight.size === 0,
    setDeadline: (at, onDue) => {
      disarm();
      disarm =
        at === null
          ? () => undefined
          : clock.schedule(at, () => {
              onDue();
              wake();
            });
    },
    handoverDue: parts.handoverDue,
    isFull: parts.isFull ?? (() => false),
    fitsHandover: parts.fitsHandover ?? (() => true),
    publish: (event, entry) => {
      parts.onEvent(event, entry);
      wake();
    },
  };
}

interface ModelCall {
  readonly order: ModelOrder;
  readonly view: TranscriptView;
  readonly mayTryAgain: MayTryAgain;
}

async function callModel(
  { registry, agent, clock, chunks }: MemoryHostParts,
  { order, view, mayTryAgain }: ModelCall,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const entry = registry.models.get(order.model);
  if (entry === undefined) {
    const message = missingModelText(registry, order.model);
    const usage = { usage: noUsage, usageKnown: false, attempts: 1 };
    return { kind: 'failed', code: 'model_error', message, ...usage };
  }
  const { runId, iteration, agentPath, purpose } = order;
  // Only replies stream.
  const publisher = purpose === 'reply' ? chunks : { publish: () => undefined };
  let spent = noUsage;
  for (let attempts = 1; ; attempts++) {
    const attempt = order.triesBefore + attempts;
    const stream = openChunkStream(publisher, {
      rootRunId: order.rootRunId ?? runId,
      runId,
      agentPath,
      iteration,
      attempt,
    });
    try {
      const texts = needsPrompt(order) ? await promptTexts(registry, order, view) : {};
      const request =
        order.inline === undefined
          ? requestOfOrder(order, view, { attempt, ...texts })
          : inlineRequest(order, order.inline, attempt);
      const around = agent.definition.middleware?.model ?? [];
      const io = { signal, onChunk: stream.write };
      const outcome = await callLayeredModel(around, entryFor(entry, order), request, io);
      stream.end();
      if (outcome.kind === 'aborted') {
        return { ...outcome, usage: addUsage(spent, outcome.usage), attempts };
      }
      const usage = addUsage(spent, outcome.reply.usage);
      return { kind: 'reply', reply: { ...outcome.reply, usage }, attempts };
    } catch (error) {
      stream.fail();
      const failure = classifyModelError(error, clock.now());
      spent = addUsage(spent, failure.usage ?? noUsage);
      const { code, message, status } = failure;
      const usageKnown = Object.values(spent).some((count) => count > 0);
      const http = status === undefined ? {} : { status };
      const cost = { usage: spent, usageKnown, attempts };
      const lost: ModelLoss = { kind: 'failed', code, message, ...http, ...cost };
      const canRetry = failure.retryable && attempts < MODEL_TRIES && !signal.aborted;
      if (!canRetry || !mayTryAgain(lost)) return lost;
      await clock.sleep(retryDelayMs(failure, attempts));
      if (signal.aborted) return { kind: 'aborted', ...cost };
    }
  }
}

async function callTool(
  agent: RegisteredAgent,
  clock: FakeClock,
  order: ToolOrder,
  tool: ToolSpec,
  signal: AbortSignal,
): Promise<ToolResult> {
  for (let attempt = 1; ; attempt++) {
    const run = await runTool(agent, order, { attempt, signal });
    if (run.kind === 'result') return run.result;
    await clock.sleep(tool.retry.initialMs * tool.retry.factor ** (attempt - 1));
  }
}
