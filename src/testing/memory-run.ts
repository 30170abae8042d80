/**
 * One run in this process, and the runs below it: what `startInMemory` starts, and what a call of an
 * agent starts under it. Messages between runs go through `deliver`, so that a test can lose them.
 */
import { defined } from '../core/base/defined.ts';
import { loadAgent } from '../registry/load-agent.ts';
import type { Registry } from '../define/definition/definitions.ts';
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import { createTreeHandlers, type TreeHandlers } from '../core/children/tree-handlers.ts';
import type { ChildEnd } from '../core/contract/host-outcome.ts';
import type { ChildOrder } from '../core/contract/host-order.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { EMPTY_INBOX, isAnsweredBy, openWaits, type Inbox } from '../core/run/inbox.ts';
import type { LimitsInput } from '../core/contract/input.ts';
import { runLoop } from '../core/loop/loop.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import { nextOf } from '../core/loop/next-of.ts';
import { pendingItems } from '../core/run/pending-items.ts';
import {
  checkAnswer,
  checkDecision,
  type AnswerCheck,
  type Decision,
  type WaitingItems,
} from '../core/contract/pending.ts';
import { givenMaterial } from '../core/start/prepare-input.ts';
import type { ProgramView } from '../core/contract/report.ts';
import { createRun, type Run } from '../core/run/run.ts';
import { startState, type RunState } from '../core/run/run-state.ts';
import { stepOf, unstartedStep } from '../core/run/step-of.ts';
import type { Step } from '../core/contract/step.ts';
import type { Next } from '../core/loop/work.ts';
import type { Json } from '../core/base/json.ts';
import { mergeLimits } from '../core/limits/compile-limits.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Entry } from '../core/contract/entry.ts';
import { placeOfItem } from '../core/tree/calls.ts';
import type { Host } from '../core/run/host.ts';
import type { ChildMessage, ParentMessage } from '../core/contract/tree-messages.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { FakeClock } from './fake-clock.ts';
import { createMemoryHost } from './memory-host.ts';

/** Where a run may hand itself over. */
export type HandoverPlace = 'boundary' | 'waiting' | 'program';

/** A run in memory, while it goes on and after. */
export interface MemoryRun {
  /** Unique in its tree: `run-1` for a root, `run-1/1.2` for the child of its call `1.2`. */
  readonly address: string;
  readonly events: readonly AgentEvent[];
  /** The history: everything that was said. */
  readonly entries: readonly Entry[];
  readonly state: RunState;
  readonly result: Promise<Step>;
  /** The runs that this one has started, in order. */
  readonly children: readonly MemoryRun[];
  /** Ends the run and all below it without a word, as somebody outside can. */
  terminate(): void;
  /** Gives input; returns its place in the order of arrival. */
  send(text: string, options?: { readonly kind?: InputKind; readonly id?: string }): number;
  cancel(message?: string): void;
  adjust(limits: LimitsInput): void;
  pause(): void;
  resume(): void;
  /** What waits for people and the outside, in this run and below it. */
  pending(): readonly PendingItem[];
  /** The program that runs, else the last one; null when there was none. */
  program(): ProgramView | null;
  /** Answers a question, or ends outside work, also of a run below. Throws a UsageError for what a live run refuses. */
  answer(id: string, value: Json, options?: AnswerOptions): void;
  /** Approves, denies or edits a call. Throws a UsageError for what a live run refuses. */
  decide(id: string, decision: Decision, options?: AnswerOptions): void;
  /** The Step, or what is pending as soon as nothing but people is waited for. */
  resultOrPending(): Promise<StepOrPending>;
}

/** The end of a run, or what keeps it waiting. */
export type StepOrPending =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'pending'; readonly pending: readonly PendingItem[] };

/** How an answer is sent. */
export interface AnswerOptions {
  /** Repeating an id changes nothing; default: a new one. */
  readonly updateId?: string;
}

/** A message between two runs of a tree. */
export type TreeMessage = ParentMessage | ChildMessage;

/** What all runs of a tree share. */
export interface MemoryTreeParts {
  readonly registry: Registry;
  readonly clock: FakeClock;
  readonly chunks: ChunkPublisher;
  readonly onEvent: (event: AgentEvent, run: MemoryRun) => void;
  /** Called for each message between two runs; it arrives when `deliver` is called, also twice. */
  readonly carry: (message: TreeMessage, deliver: () => void) => void;
  /** Asked of each run below the root where it could hand over. */
  readonly childHandoverDue: (address: string, iteration: number, place: HandoverPlace) => boolean;
}

/** What one run is started with. */
export interface MemoryStart {
  readonly input: AgentInput;
  readonly address: string;
  readonly next?: Next | undefined;
  readonly handoverDue?: ((iteration: number, place: HandoverPlace) => boolean) | undefined;
  readonly isFull?: (() => boolean) | undefined;
  readonly fitsHandover?: ((state: RunState) => boolean) | undefined;
  readonly sendToParent?: ((message: ParentMessage) => void) | undefined;
}

/** A run as its parent holds it. */
interface HeldRun {
  readonly run: MemoryRun;
  readonly handlers: () => TreeHandlers;
  /** Settles with the end, also of a run that was terminated. */
  readonly ended: Promise<ChildEnd>;
}

/** Starts a run. Throws a UsageError for what a worker or a start would refuse. */
export function startMemoryRun(parts: MemoryTreeParts, start: MemoryStart): MemoryRun {
  const loaded = loadAgent(parts.registry, start.input);
  if (loaded.kind === 'failed') throw new UsageError(loaded.code, loaded.message);
  return holdRun(parts, start, loaded.agent).run;
}

type Loaded = Extract<ReturnType<typeof loadAgent>, { readonly kind: 'loaded' }>['agent'];

function holdRun(parts: MemoryTreeParts, start: MemoryStart, loaded: Loaded): HeldRun {
  const { registry, clock } = parts;
  const { input, address, next } = start;
  const { spec } = loaded;
  const agent = registry.agents.get(spec.name);
  if (agent === undefined) throw new Error(`Expected ${spec.name} in its own registry.`);

  const events: AgentEvent[] = [];
  const entries: Entry[] = [];
  const below = new Map<string, HeldRun>();
  const children: MemoryRun[] = [];
  let current: { readonly run: Run; readonly host: Host; readonly handlers: TreeHandlers };
  let ids = 0;
  let handedOverAt = '';
  let watchers: readonly (() => void)[] = [];
  let isDead = false;
  let die: (end: ChildEnd) => void = () => undefined;
  const died = new Promise<ChildEnd>((resolve) => {
    die = resolve;
  });

  const placeOf = (run: Run): readonly [number, HandoverPlace] => {
    const { state } = run;
    const program = run.program();
    if (program !== null && program.outcome === undefined) return [state.iteration, 'program'];
    return [state.iteration, (state.pending ?? []).length > 0 ? 'waiting' : 'boundary'];
  };
  const keyOf = (run: Run): string => {
    const [iteration, place] = placeOf(run);
    return [iteration, place, ...(place === 'program' ? [run.state.seq] : [])].join();
  };
  const handoverDue = (): boolean => {
    const { run } = current;
    return keyOf(run) !== handedOverAt && start.handoverDue?.(...placeOf(run)) === true;
  };

  const runChild = (order: ChildOrder): Promise<ChildEnd> => {
    const { childId } = order;
    const child = loadAgent(registry, order.input);
    if (child.kind === 'failed') return Promise.resolve(unloaded(order, child));
    const held = holdRun(
      parts,
      childStart(parts, order, () => current.handlers),
      child.agent,
    );
    below.set(childId, held);
    children.push(held.run);
    return held.ended;
  };

  const begin = (state: RunState, inbox: Inbox): void => {
    const host = createMemoryHost({
      registry,
      agent,
      clock,
      inbox,
      chunks: parts.chunks,
      handoverDue,
      ...defined({ isFull: start.isFull, fitsHandover: start.fitsHandover }),
      onEvent: (event, entry) => {
        if (isDead) return;
        events.push(event);
        if (entry !== undefined) entries.push(entry);
        parts.onEvent(event, handle);
        for (const look of watchers) look();
      },
      tree: {
        address,
        runChild,
        send: (outgoing) => {
          if (outgoing.to === 'child') {
            const { childId, message } = outgoing;
            const child = below.get(childId);
            parts.carry(roundTrip(message), () =>
              child?.handlers().onParentMessage(roundTrip(message)),
            );
          } else if (!isDead) start.sendToParent?.(outgoing.message);
        },
      },
    });
    const run = createRun(state, host);
    const handlers = createTreeHandlers(run, (error) => {
      throw error;
    });
    current = { run, host, handlers };
  };

  const drive = async (): Promise<Step> => {
    for (;;) {
      const { run, host } = current;
      const end = await runLoop(run, next ?? nextOf(spec), loaded);
      if (end.kind === 'ended') {
        const unreadInputs = host.mailbox.peek().waiting.map((waiting) => waiting.id);
        return stepOf(run.state, end.ending, traceOf(address, unreadInputs));
      }
      handedOverAt = keyOf(run);
      begin(roundTrip(run.state), roundTrip(host.mailbox.peek()));
    }
  };

  const settle = (
    id: string,
    check: (waits: WaitingItems) => AnswerCheck,
    { updateId = `update-${(ids += 1)}` }: AnswerOptions = {},
  ): void => {
    const { mailbox } = current.host;
    const inbox = mailbox.peek();
    if (isAnsweredBy(inbox, updateId)) return;
    const checked = check(openWaits(current.run.state, inbox));
    if (checked.kind === 'refused') throw new UsageError('invalid_input', checked.message);
    mailbox.answer({ id, updateId, ...roundTrip(checked.body) });
    current.host.waits.wake();
  };

  const handle: MemoryRun = {
    address,
    events,
    entries,
    children,
    get state() {
      return current.run.state;
    },
    // One turn of the event loop later, so that the caller can send and cancel before the start.
    result: Promise.resolve().then(drive),
    terminate: () => {
      isDead = true;
      die({ kind: 'lost', message: 'terminated' });
      for (const child of children) child.terminate();
      current.host.mailbox.cancel({ reason: 'canceled', message: 'terminated' });
      current.host.waits.wake();
    },
    send: (text, { kind = 'queue', id } = {}) => {
      ids += 1;
      const position = current.host.mailbox.accept({ id: id ?? `input-${ids}`, kind, text });
      current.host.waits.wake();
      return position;
    },
    cancel: (message = '') => {
      current.host.mailbox.cancel({ reason: 'canceled', message });
      current.host.waits.wake();
    },
    adjust: (limits) => {
      const merged = mergeLimits(current.run.state.limits, limits);
      if (merged.kind === 'problems') {
        throw new UsageError('limit_key', merged.problems.map(({ message }) => message).join('\n'));
      }
      current.run.adjust(merged.limits);
      current.handlers.recallLeases();
    },
    pause: () => current.run.pause(),
    resume: () => current.run.resume(),
    program: () => current.run.program(),
    pending: () => pendingItems(current.run.state, current.host.mailbox.peek()),
    answer: (id, value, how) => {
      const place = runOfItem(handle, id);
      if (place.run !== handle) place.run.answer(place.id, value, how);
      else settle(id, (waits) => checkAnswer(waits, id, value), how);
    },
    decide: (id, decision, how) => {
      const place = runOfItem(handle, id);
      if (place.run !== handle) place.run.decide(place.id, decision, how);
      else settle(id, (waits) => checkDecision(waits, id, decision), how);
    },
    resultOrPending: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const { waitingSince = null } = current.run.state;
          const pending = handle.pending();
          // A child that waits keeps its parent waiting, which does not know of nothing else.
          const isWaiting = waitingSince !== null || pending.some(({ run }) => run !== undefined);
          if (!isWaiting || pending.length === 0) return;
          watchers = watchers.filter((watcher) => watcher !== look);
          resolve({ kind: 'pending', pending });
        };
        watchers = [...watchers, look];
        handle.result.then((step) => resolve({ kind: 'step', step }), reject);
        look();
      }),
  };
  const { parent, history, memory } = input;
  const identity = {
    runId: address,
    agentPath: parent?.path ?? spec.name,
    depth: parent?.depth ?? 0,
    startedAt: clock.now(),
    ...defined({ parent }),
  };
  const head = {
    spec,
    ...(loaded.material ?? givenMaterial(input)),
    ...defined({ history }),
  };
  begin(startState(identity, head, memory), EMPTY_INBOX);
  const finished = handle.result.then((step): ChildEnd => ({ kind: 'ended', step }));
  const handlers = (): TreeHandlers => current.handlers;
  return { run: handle, handlers, ended: Promise.race([died, finished]) };
}

/** The run of `root` in which the item waits that it calls `id`, and its id there. */
function runOfItem(root: MemoryRun, id: string): { readonly run: MemoryRun; readonly id: string } {
  const { calls, id: own } = placeOfItem(id);
  const address = [root.address, ...calls].join('/');
  const run = calls.reduce<MemoryRun | undefined>(
    (above, callId) =>
      above?.children.find((child) => child.address === `${above.address}/${callId}`),
    root,
  );
  if (run !== undefined) return { run, id: own };
  throw new UsageError('run_not_found', `Expected a run \`${address}\`, got none of this tree.`);
}

function childStart(
  parts: MemoryTreeParts,
  { childId, input }: ChildOrder,
  handlers: () => TreeHandlers,
): MemoryStart {
  return {
    // What a child is given goes over the wire.
    input: roundTrip(input),
    address: childId,
    handoverDue: (iteration, place) => parts.childHandoverDue(childId, iteration, place),
    sendToParent: (message) => {
      parts.carry(roundTrip(message), () => handlers().onChildMessage(roundTrip(message)));
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

function traceOf(address: string, unreadInputs: readonly string[]): Step['trace'] {
  return { workflowId: address, executionId: address, firstExecutionId: address, unreadInputs };
}

function roundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
