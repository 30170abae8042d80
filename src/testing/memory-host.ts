/**
 * The Host in one process, without a server, for tests: the same loop, agents, tools,
 * validators and model adapter as on a worker. Time moves only when the clock is advanced or a call
 * sleeps.
 */
import type { JsonObject } from '../core/base/json.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { ChildOrder } from '../core/contract/host-order.ts';
import { MAX_CHECK_ATTEMPTS } from '../core/attempt/attempts.ts';
import type { AttemptFailure } from '../core/attempt/failure.ts';
import { NOTHING_TRIED, type Tried } from '../core/attempt/table.ts';
import { afterJudgeFailure, afterToolFailure } from '../core/attempt/tool-attempts.ts';
import type {
  ApprovalOutcome,
  ChildEnd,
  JudgeOutcome,
  LiteralsOutcome,
} from '../core/contract/host-outcome.ts';
import type { CallOptions, Host, StateProbe } from '../core/run/host.ts';
import { createWaits } from '../core/run/waits.ts';
import { createMailbox, type Inbox, type Mailbox } from '../core/run/inbox.ts';
import { scratchpadMessages, type RunState } from '../core/run/run-state.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type { ChildCancel } from '../core/contract/tree-messages.ts';
import { INLINE_SIZES, type SizeLimits } from '../core/base/size-limits.ts';
import { CHILD_END_WITHIN_MS, childRefusal, LATE_CHILD } from '../core/start/child-bounds.ts';
import { callTopics } from '../core/streaming/topic-stream.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { JudgeOrder, ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import type { Entry } from '../core/contract/entry.ts';
import type {
  Registry,
  RegisteredAgent,
  ToolDefinition,
} from '../define/definition/definitions.ts';
import type { McpTools } from '../define/mcp/mcp-tools.ts';
import { boundTool, type BoundTool } from '../tools/bind-tool.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import { runJudge } from '../tools/run-judge.ts';
import { runTool } from '../tools/run-tool.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import type { FakeClock } from './fake-clock.ts';
import { callModel, type ModelCallParts } from './memory-model-call.ts';
import { tryInMemory } from './try-in-memory.ts';

/** What a memory host is made of. */
export interface MemoryHostParts {
  readonly registry: Registry;
  readonly agent: RegisteredAgent;
  readonly clock: FakeClock;
  readonly inbox: Inbox;
  readonly chunks: ChunkPublisher;
  /** Called with each event and the entry that came with it. */
  readonly onEvent: (event: AgentEvent, entry: Entry | undefined) => void;
  /** Asked at each iteration boundary. */
  readonly handoverDue: () => boolean;
  /** Whether nothing more may begin in this link. Default: never. */
  readonly isFull?: () => boolean;
  /** Whether a hand-over could carry the state. Default: any. */
  readonly fitsHandover?: (state: RunState) => boolean;
  /** How large the parts of the run may be. Default: those of a run without a blob store. */
  readonly sizes?: SizeLimits;
  /** The servers whose tools the agent has. Default: none. */
  readonly mcp?: McpTools | undefined;
  /** Watches the run, for its forks. Default: nothing does. */
  readonly probe?: StateProbe;
  /** Gives the context of the run. Default: it has none. */
  readonly readContext?: () => JsonObject | undefined;
  /** The other runs of the tree. Default: none, and a child cannot be started. */
  readonly tree?: MemoryTree;
}

/** How a run in memory reaches the others of its tree. */
export interface MemoryTree {
  readonly address: string;
  /** Starts a child; settles with its end. */
  readonly runChild: (order: ChildOrder) => Promise<ChildEnd>;
  readonly send: Host['send'];
}

const NO_TREE: MemoryTree = {
  address: 'run-1',
  runChild: ({ childId }) =>
    Promise.resolve({ kind: 'unstarted', message: `this host cannot start ${childId}` }),
  send: () => undefined,
};

/** A Host in this process. */
export function createMemoryHost(parts: MemoryHostParts): Host {
  const { clock, tree = NO_TREE } = parts;
  const waits = createWaits((at, onDue) => clock.schedule(at, onDue));
  const flight = createFlight(waits.wake);
  const mailbox = createMailbox(parts.inbox, () => flight.abort());
  let cancelDeadline = (): void => undefined;
  return {
    link: {
      address: tree.address,
      isHandoverDue: parts.handoverDue,
      isFull: parts.isFull ?? (() => false),
      sizes: parts.sizes ?? INLINE_SIZES,
      fits: parts.fitsHandover ?? (() => true),
      probe: parts.probe,
    },
    mailbox,
    waits,
    now: () => clock.now(),
    computing: { run: (_kind, work) => work(), endSlice: () => Promise.resolve() },
    ...callsOf(parts, flight, mailbox),
    send: tree.send,
    abort: flight.abort,
    isIdle: flight.isIdle,
    setDeadline: (at, onDue) => {
      cancelDeadline();
      cancelDeadline = at === null ? () => undefined : clock.schedule(at, onDue);
    },
    publish: (event, entry) => {
      parts.onEvent(event, entry);
      waits.wake();
    },
  };
}

/** The calls in flight. */
interface Flight {
  readonly isIdle: () => boolean;
  readonly abort: (abortId?: string) => void;
  readonly run: <Result>(
    call: (signal: AbortSignal) => Promise<Result>,
    options?: CallOptions & { readonly startsAborted?: boolean },
  ) => Promise<Result>;
}

function createFlight(onEnd: () => void): Flight {
  const inFlight = new Set<AbortController>();
  const alone = new Map<string, AbortController>();
  return {
    isIdle: () => inFlight.size === 0,
    abort: (abortId) => {
      if (abortId !== undefined) return alone.get(abortId)?.abort();
      for (const controller of inFlight) controller.abort();
    },
    run: async (call, { abortId, startsAborted = false } = {}) => {
      const controller = new AbortController();
      if (abortId !== undefined) alone.set(abortId, controller);
      if (startsAborted) controller.abort();
      inFlight.add(controller);
      try {
        return await call(controller.signal);
      } finally {
        inFlight.delete(controller);
        if (abortId !== undefined) alone.delete(abortId);
        onEnd();
      }
    },
  };
}

type Calls = Pick<
  Host,
  'callModel' | 'callTool' | 'judgeAnswer' | 'needsApproval' | 'checkLiterals' | 'runChild'
>;

function callsOf(parts: MemoryHostParts, { run }: Flight, mailbox: Mailbox): Calls {
  const { agent, clock } = parts;
  const { address } = parts.tree ?? NO_TREE;
  // A listener may send a message at the event before a call, when the call is not in flight yet.
  const isUrgent = (): boolean => {
    const { cancel, waiting } = mailbox.peek();
    return cancel !== null || waiting.some((input) => input.kind === 'interrupt');
  };
  const runRead: ModelCallParts['runRead'] = (order, signal, context) =>
    runOnce(parts, { order, context, isOnce: false }, { attempt: 1, signal });
  return {
    callModel: (order, state, options) => {
      const view = { head: state.head, messages: scratchpadMessages(state) };
      const { abortId } = options;
      return run(
        (signal) => callModel({ ...parts, runRead, address }, { ...options, order, view }, signal),
        {
          abortId,
          startsAborted: isUrgent(),
        },
      );
    },
    callTool: (order, tool, { abortId, context } = {}) =>
      run(
        async (signal) => {
          const result = await callTool(parts, { order, tool, context }, signal);
          return { result, endedAt: clock.now() };
        },
        { abortId, startsAborted: isUrgent() },
      ),
    judgeAnswer: (order) => run((signal) => judge(parts, order, signal)),
    needsApproval: (order) =>
      run((signal) => approvalIn(parts, order, signal), { startsAborted: isUrgent() }),
    checkLiterals: (order) =>
      run((signal) =>
        checkedAgain(signal, (): Promise<LiteralsOutcome> => {
          const literals = checkProgramLiterals(agent, order.literals);
          const checked = checkLiterals(agent, order);
          return unlessAborted(
            signal,
            checked.then((verdicts) => ({ kind: 'checked', verdicts, literals })),
          );
        }),
      ),
    runChild: (order, cancel) => {
      const message = childRefusal(order, parts.sizes ?? INLINE_SIZES);
      if (message !== null) return Promise.resolve({ kind: 'unstarted', message });
      return run((signal) => runChild(parts, order, { cancel, signal }), {
        abortId: order.callId,
        startsAborted: isUrgent(),
      });
    },
  };
}

/** Runs a child to its end. From an abort on, it has as long to end as on a server. */
async function runChild(
  { clock, tree = NO_TREE }: MemoryHostParts,
  order: ChildOrder,
  { cancel, signal }: { readonly cancel: () => ChildCancel; readonly signal: AbortSignal },
): Promise<ChildEnd> {
  const ended = tree.runChild(order);
  let forget = (): void => undefined;
  const lost = new Promise<ChildEnd>((resolve) => {
    const stop = (): void => {
      const at = clock.now() + CHILD_END_WITHIN_MS;
      forget = clock.schedule(at, () => resolve(LATE_CHILD));
      tree.send({ to: 'child', childId: order.childId, message: cancel() });
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  const end = await Promise.race([ended, lost]);
  forget();
  return end;
}

/** Judges answers until an attempt ends. */
function judge(
  { agent, clock, readContext, tree = NO_TREE }: MemoryHostParts,
  order: JudgeOrder,
  signal: AbortSignal,
): Promise<JudgeOutcome> {
  return tryInMemory<JudgeOutcome, Tried>(clock, signal, {
    before: NOTHING_TRIED,
    attempt: async ({ attempts }) => {
      const judged = await runJudge(agent, order, {
        attempt: attempts + 1,
        signal,
        run: tree.address,
        readContext: async () => readContext?.(),
      });
      if (judged.kind === 'judged') return { kind: 'judged', result: judged.result };
      if (judged.kind === 'stopped') return { kind: 'aborted' };
      const { message } = judged;
      return { failure: { kind: judged.kind === 'threw' ? 'failed' : 'lack', message } };
    },
    onFailure: (failure, tried) => afterJudgeFailure(tried, failure),
  });
}

/** Asks until an attempt ends whether a person must approve a call. */
function approvalIn(
  parts: MemoryHostParts,
  order: ToolOrder,
  signal: AbortSignal,
): Promise<ApprovalOutcome> {
  return checkedAgain(signal, async (): Promise<ApprovalOutcome> => {
    const needed = approvalOf(parts, order, signal);
    return unlessAborted(
      signal,
      needed.then((it) => ({ kind: 'known', needed: it })),
    );
  });
}

/** Ends as aborted as soon as `signal` says so: the functions of a check get no signal. */
function unlessAborted<Outcome>(
  signal: AbortSignal,
  check: Promise<Outcome>,
): Promise<Outcome | { kind: 'aborted' }> {
  const aborted = new Promise<{ kind: 'aborted' }>((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true });
  });
  return Promise.race([check, aborted]);
}

async function approvalOf(
  { agent, mcp, tree = NO_TREE }: MemoryHostParts,
  order: ToolOrder,
  signal: AbortSignal,
): Promise<boolean> {
  const bound = await boundTool({ agent, mcp, isOnce: false }, order, { attempt: 1, signal });
  return bound.kind !== 'result' && isApprovalNeeded(boundOrNone(bound), order, tree.address);
}

function boundOrNone(bound: BoundTool): ToolDefinition | undefined {
  return bound.kind === 'bound' ? bound.tool : undefined;
}

/** Tries a check until it returns; after the last attempt its error is the outcome. */
async function checkedAgain<Outcome>(
  signal: AbortSignal,
  check: () => Promise<Outcome>,
): Promise<Outcome | { kind: 'aborted' } | { kind: 'failed'; message: string }> {
  let message = '';
  for (let attempt = 1; attempt <= MAX_CHECK_ATTEMPTS; attempt++) {
    if (signal.aborted) return { kind: 'aborted' };
    try {
      return await check();
    } catch (error) {
      message = redactedErrorText(error);
    }
  }
  return { kind: 'failed', message };
}

/** A tool call, and the context of the run for a tool that reads it. */
interface MemoryToolCall {
  readonly order: ToolOrder;
  readonly tool: ToolSpec;
  readonly context: JsonObject | undefined;
}

function callTool(
  parts: MemoryHostParts,
  { order, tool, context }: MemoryToolCall,
  signal: AbortSignal,
): Promise<ToolResult> {
  const isOnce = tool.effect === 'once';
  return tryInMemory<ToolResult, Tried>(parts.clock, signal, {
    // An attempt beside the reply counts.
    before: { ...NOTHING_TRIED, attempts: order.attemptsBefore ?? 0 },
    attempt: async (tried) => {
      const attempt = tried.attempts + 1;
      const run = await runOnce(parts, { order, context, isOnce }, { attempt, signal });
      return run.kind === 'result' ? run.result : { failure: failureOf(run, order) };
    },
    onFailure: (failure, tried) => afterToolFailure(tool, tried, failure),
  });
}

/** An attempt that gave no result, as a worker would tell it. */
function failureOf(
  run: Exclude<ToolRun, { readonly kind: 'result' }>,
  order: ToolOrder,
): AttemptFailure {
  switch (run.kind) {
    case 'retry':
      return { kind: 'failed', message: run.message };
    case 'not_here':
      return { kind: 'lack', message: run.what, lack: { what: run.what, agent: order.agent } };
    case 'shutdown':
      return { kind: 'given_back', message: 'The worker stopped.' };
  }
}

/** One attempt of a call. */
function runOnce(
  { agent, chunks, sizes, mcp, tree = NO_TREE }: MemoryHostParts,
  {
    order,
    context,
    isOnce,
  }: {
    readonly order: ToolOrder;
    readonly context: JsonObject | undefined;
    readonly isOnce: boolean;
  },
  { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<ToolRun> {
  const { rootRunId = order.runId, runId, agentPath, callId } = order;
  return runTool(agent, order, {
    attempt,
    signal,
    onEvent: callTopics(chunks, { rootRunId, runId, agentPath, callId, attempt }),
    run: tree.address,
    context: order.readsContext === true ? context : undefined,
    sizes: sizes ?? INLINE_SIZES,
    mcp,
    isOnce,
  });
}
