/**
 * One run in this process, and the runs below it: what `startInMemory` starts, and what a call of
 * an agent starts under it. Messages between runs go through `deliver`, so that a test can lose
 * them.
 */
import { defined } from '../core/base/defined.ts';
import { idBelow } from '../core/base/ids.ts';
import { withBuiltIn } from '../registry/built-in-agents.ts';
import { loadAgent, type LoadOutcome } from '../registry/load-agent.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import { createTreeHandlers, type TreeHandlers } from '../core/children/tree-handlers.ts';
import type { ChildEnd } from '../core/contract/host-outcome.ts';
import type { ChildOrder } from '../core/contract/host-order.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { EMPTY_INBOX, isAnsweredBy, openWaits, type Inbox } from '../core/run/inbox.ts';
import { nextOf, runLoop } from '../core/loop/loop.ts';
import { pendingItems } from '../core/run/pending-items.ts';
import { callsInProgress, earlyRoom } from '../core/people/early-answers.ts';
import { revokeApproval, revokeProblem } from '../core/people/standing-approvals.ts';
import { checkAnswer, checkDecision } from '../core/people/check-answer.ts';
import type { AnswerCheck, AnswerOptions, WaitingItems } from '../core/contract/pending.ts';
import { givenMaterial } from '../core/start/prepare-input.ts';
import { createRun, type Run } from '../core/run/run.ts';
import { startState, type RunState } from '../core/run/run-state.ts';
import { stepOf, unstartedStep } from '../core/run/step-of.ts';
import type { Step } from '../core/contract/step.ts';
import { mergeLimits } from '../core/limits/limits-input.ts';
import type { Entry } from '../core/contract/entry.ts';
import { placeOfItem } from '../core/tree/calls.ts';
import type { RunMoment } from '../core/base/fork.ts';
import { createTape, type TapeRecorder } from '../core/fork/tape.ts';
import type { Host } from '../core/run/host.ts';
import type { ForkSource } from '../registry/fork-agent.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { createMemoryHost, type MemoryTree } from './memory-host.ts';
import { forkedStart, forkInput, sourceAt, viewAt, type MemoryFork } from './memory-forks.ts';
import type {
  MemoryForkOptions,
  MemoryRun,
  StepOrPending,
  MemoryTreeParts,
  MemoryStart,
  HandoverPlace,
} from './memory-run.ts';

/** A run in memory, with everything that changes about it. */
interface LiveRun {
  readonly parts: MemoryTreeParts;
  readonly start: MemoryStart;
  readonly loaded: LoadedAgent;
  readonly events: AgentEvent[];
  readonly entries: Entry[];
  readonly children: LiveRun[];
  /** Called at each event. */
  watchers: readonly (() => void)[];
  /** What runs in this link of its chain. */
  link: { readonly run: Run; readonly host: Host; readonly handlers: TreeHandlers };
  /** Where it handed over last. */
  handedOverAt: string;
  /** What its forks begin from. */
  readonly tape: TapeRecorder;
  /** How many of them there are. */
  forks: number;
  lastId: number;
  isTerminated: boolean;
  handle: MemoryRun;
  /** Settles with the end, even of a run that was terminated. */
  ended: Promise<ChildEnd>;
}

/** Starts a run. Throws a UsageError for what a worker or a start would refuse. */
export function startMemoryRun(parts: MemoryTreeParts, start: MemoryStart): MemoryRun {
  if (start.source !== undefined) return startFork(parts, start, start.source);
  const loaded = load(parts, start.input);
  if (loaded.kind === 'failed') throw new UsageError(loaded.code, loaded.message);
  return startRun(parts, start, loaded.agent).handle;
}

function startFork(parts: MemoryTreeParts, start: MemoryStart, source: ForkSource): MemoryRun {
  const { input, address } = start;
  const identity = {
    runId: address,
    startedAt: parts.clock.now(),
    ...defined({ trace: input.trace }),
  };
  const { state, inbox, warnings } = forkedStart(parts, source, input, identity);
  return startRun(parts, start, { spec: state.head.spec, warnings }, { state, inbox }).handle;
}

function load({ registry, sizes, mcp }: MemoryTreeParts, input: AgentInput): LoadOutcome {
  return loadAgent(registry, input, sizes, mcp?.listings.get(input.agent));
}

type LoadedAgent = Extract<LoadOutcome, { readonly kind: 'loaded' }>['agent'];

function startRun(
  parts: MemoryTreeParts,
  start: MemoryStart,
  loaded: LoadedAgent,
  forked?: Pick<MemoryFork, 'state' | 'inbox'>,
): LiveRun {
  const { input, address } = start;
  const { parent, history, memory, conversation, by, trace, tenant } = input;
  const { spec } = loaded;
  const identity = {
    runId: address,
    agentPath: parent?.path ?? spec.name,
    depth: parent?.depth ?? 0,
    startedAt: parts.clock.now(),
    ...defined({
      parent,
      conversation: parent === undefined ? conversation : parent.conversation,
      by: parent === undefined ? by : parent.by,
      trace: parent === undefined ? trace : parent.trace,
      tenant,
    }),
  };
  const head = { spec, ...(loaded.material ?? givenMaterial(input)), ...defined({ history }) };
  // The last three fields are set at once below; until then nothing reads them.
  const live = {
    parts,
    start,
    loaded,
    events: [],
    entries: [],
    children: [],
    watchers: [],
    handedOverAt: '',
    tape: createTape(),
    forks: 0,
    lastId: 0,
    isTerminated: false,
  } as unknown as LiveRun;
  let onTerminated: (end: ChildEnd) => void = () => undefined;
  const terminated = new Promise<ChildEnd>((resolve) => {
    onTerminated = resolve;
  });
  live.handle = handleOf(live, onTerminated);
  const state = forked?.state ?? startState(identity, head, memory);
  beginLink(live, state, forked?.inbox ?? EMPTY_INBOX);
  const finished = live.handle.result.then((step): ChildEnd => ({ kind: 'ended', step }));
  live.ended = Promise.race([terminated, finished]);
  return live;
}

/** Begins a link of the chain of a run. */
function beginLink(live: LiveRun, state: RunState, inbox: Inbox): void {
  const { parts, start, events, entries } = live;
  const { name } = live.loaded.spec;
  const agent = withBuiltIn(parts.registry, name).agents.get(name);
  if (agent === undefined) {
    throw new Error(`Expected ${live.loaded.spec.name} in its own registry.`);
  }
  const host = createMemoryHost({
    registry: parts.registry,
    agent,
    clock: parts.clock,
    inbox,
    chunks: parts.chunks,
    sizes: parts.sizes,
    mcp: parts.mcp?.tools,
    readContext: () => live.link.run.state.head.context,
    handoverDue: () => {
      const { run } = live.link;
      return keyOf(run) !== live.handedOverAt && start.handoverDue?.(...placeOf(run)) === true;
    },
    ...defined({ isFull: start.isFull, fitsHandover: start.fitsHandover }),
    onEvent: (event, entry) => {
      if (live.isTerminated) return;
      events.push(event);
      if (entry !== undefined) entries.push(entry);
      parts.onEvent(event, live.handle);
      for (const look of live.watchers) look();
    },
    probe: live.tape.probe,
    tree: treeOf(live),
  });
  const run = createRun(state, host);
  const handlers = createTreeHandlers(run, (error) => {
    throw error;
  });
  live.link = { run, host, handlers };
}

/** The other runs of the tree, as the host of a run reaches them. */
function treeOf(live: LiveRun): MemoryTree {
  const { parts, start, children } = live;
  return {
    address: start.address,
    runChild: (order) => {
      const child = load(parts, order.input);
      if (child.kind === 'failed') return Promise.resolve(unloaded(order, child));
      const started = startRun(parts, childStart(live, order), child.agent);
      children.push(started);
      return started.ended;
    },
    send: (outgoing) => {
      if (outgoing.to === 'child') {
        const { childId, message } = outgoing;
        const child = children.findLast(({ handle }) => handle.address === childId);
        parts.carry(roundTrip(message), () =>
          child?.link.handlers.onParentMessage(roundTrip(message)),
        );
      } else if (!live.isTerminated) start.sendToParent?.(outgoing.message);
    },
  };
}

/** Runs all links of a run to its end. */
async function runToEnd(live: LiveRun): Promise<Step> {
  const { start, loaded } = live;
  for (;;) {
    const { run, host } = live.link;
    const end = await runLoop(run, start.next ?? nextOf(loaded.spec), loaded);
    if (end.kind === 'ended') {
      // Only a child that was lost still runs: like on a server, it does not outlive its parent.
      for (const { link, handle } of live.children) if (!link.run.hasEnded) handle.terminate();
      const { waiting, accepted: inputs } = host.mailbox.peek();
      const { link: links, seq: events, historyLength: entries } = run.state;
      const chain = { links, events, entries, inputs };
      const unreadInputs = waiting.map(({ id }) => id);
      return stepOf(run.state, end.ending, traceOf(start.address, unreadInputs, chain));
    }
    live.handedOverAt = keyOf(run);
    beginLink(live, roundTrip(run.state), roundTrip(host.mailbox.peek()));
  }
}

/** Where a run could hand over now. */
function placeOf(run: Run): readonly [number, HandoverPlace] {
  const { iteration, pending = [] } = run.state;
  const program = run.program();
  if (program !== null && program.outcome === undefined) return [iteration, 'program'];
  return [iteration, pending.length > 0 ? 'waiting' : 'boundary'];
}

function keyOf(run: Run): string {
  const [iteration, place] = placeOf(run);
  return [iteration, place, ...(place === 'program' ? [run.state.seq] : [])].join();
}

function handleOf(live: LiveRun, onTerminated: (end: ChildEnd) => void): MemoryRun {
  const { events, entries, start } = live;
  const cancel = (message: string): void => {
    live.link.host.mailbox.cancel({ reason: 'canceled', message });
    live.link.host.waits.wake();
  };
  return {
    address: start.address,
    events,
    entries,
    get children() {
      return live.children.map(({ handle }) => handle);
    },
    get state() {
      return live.link.run.state;
    },
    // One turn of the event loop later, so that the caller can send and cancel before the start.
    result: Promise.resolve().then(() => runToEnd(live)),
    terminate: () => {
      live.isTerminated = true;
      onTerminated({ kind: 'lost', message: 'terminated' });
      for (const child of live.children) child.handle.terminate();
      cancel('terminated');
    },
    send: (text, { kind = 'queue', id } = {}) => {
      live.lastId += 1;
      const { mailbox, waits } = live.link.host;
      const position = mailbox.accept({ id: id ?? `input-${live.lastId}`, kind, text });
      waits.wake();
      return position;
    },
    cancel: (message = '') => cancel(message),
    adjust: (limits) => {
      const { run, handlers } = live.link;
      const merged = mergeLimits(run.state.limits, limits);
      if (merged.kind === 'problems') {
        throw new UsageError('limit_key', merged.problems.map(({ message }) => message).join('\n'));
      }
      run.adjust(merged.limits);
      handlers.recallLeases();
    },
    pause: () => live.link.run.pause(),
    resume: () => live.link.run.resume(),
    program: () => live.link.run.program(),
    pending: () => pendingItems(live.link.run.state, live.link.host.mailbox.peek()),
    answer: (id, value, how) =>
      settle(live, id, (waits, own) => checkAnswer(waits, own, value), how),
    decide: (id, decision, how) =>
      settle(live, id, (waits, own) => checkDecision(waits, own, decision), how),
    revoke: (id) => {
      const { run } = live.link;
      const problem = revokeProblem(run.state.standing, id);
      if (problem !== null) throw new UsageError('invalid_input', problem);
      revokeApproval(run, id);
    },
    at: (moment) => viewAt(start.address, sourceAt(start.address, live.tape, moment)),
    fork: (at, options = {}) => forkOf(live, at, options),
    resultOrPending: () => resultOrPending(live),
  };
}

/** Starts a fork: a root of its own. */
function forkOf(live: LiveRun, at: RunMoment, options: MemoryForkOptions): MemoryRun {
  const { start, parts, tape } = live;
  const source = sourceAt(start.address, tape, at);
  const input = forkInput(source, { at, options, sizes: parts.sizes });
  live.forks += 1;
  const address = `${start.address}-fork-${live.forks}`;
  const { registry = parts.registry } = options;
  return startMemoryRun({ ...parts, registry }, { input, source, address, next: start.next });
}

/** Settles an item of a run or of one below it. */
function settle(
  root: LiveRun,
  itemId: string,
  check: (waits: WaitingItems, id: string) => AnswerCheck,
  { updateId }: AnswerOptions = {},
): void {
  const { live, id } = runOfItem(root, itemId);
  const known = updateId ?? `update-${(live.lastId += 1)}`;
  const { run, host } = live.link;
  const inbox = host.mailbox.peek();
  if (isAnsweredBy(inbox, known)) return;
  const begun = callsInProgress(run.state);
  const open = { ...openWaits(run.state, inbox), begun, maxBytes: host.link.sizes.result };
  const checked = check(open, id);
  if (checked.kind === 'refused') throw new UsageError(checked.code, checked.message);
  const early = checked.isEarly === true ? host.now() : undefined;
  const full =
    early !== undefined && checked.body.kind === 'answer'
      ? earlyRoom(inbox, checked.body.value)
      : null;
  if (full !== null) throw new UsageError('invalid_input', full);
  const answer = { id, updateId: known, ...defined({ early }), ...checked.body };
  host.mailbox.answer(roundTrip(answer));
  host.waits.wake();
}

function resultOrPending(live: LiveRun): Promise<StepOrPending> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const { waitingSince = null } = live.link.run.state;
      const pending = live.handle.pending();
      // A waiting child keeps its parent waiting, although the parent's own state does not say so.
      const isWaiting = waitingSince !== null || pending.some(({ run }) => run !== undefined);
      if (!isWaiting || pending.length === 0) return;
      live.watchers = live.watchers.filter((watcher) => watcher !== look);
      resolve({ kind: 'pending', pending });
    };
    live.watchers = [...live.watchers, look];
    live.handle.result.then((step) => resolve({ kind: 'step', step }), reject);
    look();
  });
}

/** The run that has the item which `root` calls `id`, and the id of the item there. */
function runOfItem(root: LiveRun, id: string): { readonly live: LiveRun; readonly id: string } {
  const { calls, id: own } = placeOfItem(id);
  const address = calls.reduce(idBelow, root.handle.address);
  const live = calls.reduce<LiveRun | undefined>(
    (above, callId) =>
      above?.children.find(
        ({ handle }) => handle.address === idBelow(above.handle.address, callId),
      ),
    root,
  );
  if (live !== undefined) return { live, id: own };
  throw new UsageError('run_not_found', `Expected a run \`${address}\`, got none of this tree.`);
}

function childStart(parent: LiveRun, { childId, input }: ChildOrder): MemoryStart {
  const { parts } = parent;
  return {
    input: roundTrip(input),
    address: childId,
    handoverDue: (iteration, place) => parts.childHandoverDue(childId, iteration, place),
    sendToParent: (message) => {
      parts.carry(roundTrip(message), () =>
        parent.link.handlers.onChildMessage(roundTrip(message)),
      );
    },
  };
}

/** The end of a child whose agent could not be loaded. */
function unloaded(
  { childId, input }: ChildOrder,
  { code, message }: { readonly code: string; readonly message: string },
): ChildEnd {
  return { kind: 'ended', step: unstartedStep(input.agent, code, message, traceOf(childId, [])) };
}

const NO_CHAIN = { links: 1, events: 0, entries: 0, inputs: 0 };

function traceOf(
  address: string,
  unreadInputs: readonly string[],
  chain: Step['trace']['chain'] = NO_CHAIN,
): Step['trace'] {
  const ids = { workflowId: address, executionId: address, firstExecutionId: address };
  return { ...ids, unreadInputs, chain };
}

function roundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
