/** Runs an agent in this process, with a scripted model and a fake clock: the test kit's front door. */
import type { AgentDefinition } from '../activities/definitions.ts';
import { loadAgent } from '../activities/load-agent.ts';
import type { ModelEntry } from '../activities/model-entry.ts';
import type { AgentEvent, InputKind } from '../core/agent/events.ts';
import type { HistoryTurn, LimitsInput } from '../core/agent/input.ts';
import { givenMaterial } from '../core/agent/prepare-input.ts';
import { EMPTY_INBOX, isAnsweredBy, openWaits, type Inbox } from '../core/agent/inbox.ts';
import { runLoop } from '../core/agent/loop.ts';
import type { PendingItem } from '../core/agent/messages.ts';
import { nextOf } from '../core/agent/next-of.ts';
import { pendingItems } from '../core/agent/pending-items.ts';
import {
  checkAnswer,
  checkDecision,
  type AnswerCheck,
  type Decision,
  type Waits,
} from '../core/agent/pending.ts';
import type { ProgramView } from '../core/agent/program/report.ts';
import { createRun, type Run } from '../core/agent/run.ts';
import { startState, type RunState } from '../core/agent/run-state.ts';
import { startInput } from '../core/agent/start-input.ts';
import { stepOf } from '../core/agent/step-of.ts';
import type { Step, StepMemory } from '../core/agent/step.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Next } from '../core/agent/work.ts';
import { mergeLimits } from '../core/limits/compile-limits.ts';
import type { Task } from '../core/message.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Entry } from '../core/transcript/entry.ts';
import { UsageError } from '../core/usage-error.ts';
import { createRegistry } from '../activities/registry.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createMemoryHost, type MemoryHost } from './memory-host.ts';

/** What a run in memory is started with. */
export interface MemoryRunOptions {
  readonly agent: AgentDefinition;
  /** Entries that the agent names by id; an entry in the definition needs none. */
  readonly models?: readonly ModelEntry[];
  /** Default: none, for an agent whose template needs none. */
  readonly task?: string | Task;
  /** Named data, or the Step of an earlier run. */
  readonly context?: JsonObject | Step;
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
  readonly history?: readonly HistoryTurn[];
  readonly limits?: LimitsInput;
  /** What the programs of an earlier run left: its Step's `memory`. */
  readonly memory?: StepMemory;
  /** Default: a clock that stands at 2026-03-10T09:00:00Z. */
  readonly clock?: FakeClock;
  /** A loop of your own. Default: that of the agent's mode. */
  readonly next?: Next;
  /**
   * Hands over, through JSON, at each iteration boundary for which this holds, while only people are
   * waited for, and in the middle of a program; once at each, in a program once between two events.
   */
  readonly handoverDue?: (iteration: number, place: HandoverPlace) => boolean;
  /** Whether a hand-over could carry the state; one that it could not is compacted first. */
  readonly fitsHandover?: (state: RunState) => boolean;
  /** Whether a link has no room left, so that a program that cannot be handed over ends. Default: never. */
  readonly isFull?: () => boolean;
  /** Hears each event as it is recorded; may send, cancel or adjust. */
  readonly onEvent?: (event: AgentEvent, run: MemoryRun) => void;
  /** Takes what streams; default: nobody listens. */
  readonly chunks?: ChunkPublisher;
}

/** Where a run may hand itself over. */
export type HandoverPlace = 'boundary' | 'waiting' | 'program';

/** A run in memory, while it goes on and after. */
export interface MemoryRun {
  readonly events: readonly AgentEvent[];
  /** The history: everything that was said. */
  readonly entries: readonly Entry[];
  readonly state: RunState;
  readonly result: Promise<Step>;
  /** Gives input; returns its place in the order of arrival. */
  send(text: string, options?: { readonly kind?: InputKind; readonly id?: string }): number;
  cancel(message?: string): void;
  adjust(limits: LimitsInput): void;
  pause(): void;
  resume(): void;
  /** What waits for people and the outside. */
  pending(): readonly PendingItem[];
  /** The program that runs, else the last one; null when there was none. */
  program(): ProgramView | null;
  /** Answers a question, or ends outside work. Throws a UsageError for what a live run refuses. */
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

/**
 * Starts `agent` in this process. Throws a UsageError for what a worker or a start would refuse.
 *
 * @example
 * const script = scriptedModel(['<answer>42</answer>']);
 * const agent = defineAgent({ name: 'oracle', model: script.model });
 * const step = await startInMemory({ agent, task: 'What is it?' }).result;
 */
export function startInMemory(options: MemoryRunOptions): MemoryRun {
  const { clock = createFakeClock(), task, context, history, limits, model } = options;
  const { memory } = options;
  const registry = createRegistry({ agents: [options.agent], models: options.models ?? [] });
  const input = startInput(options.agent.name, { task, context, history, limits, model, memory });
  const loaded = loadAgent(registry, input);
  if (loaded.kind === 'failed') throw new UsageError(loaded.code, loaded.message);
  const { spec } = loaded.agent;
  const agent = registry.agents.get(spec.name);
  if (agent === undefined) throw new Error(`Expected ${spec.name} in its own registry.`);

  const events: AgentEvent[] = [];
  const entries: Entry[] = [];
  let current: { readonly run: Run; readonly host: MemoryHost };
  let ids = 0;
  let handedOverAt = '';
  let watchers: readonly (() => void)[] = [];

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
    return keyOf(run) !== handedOverAt && options.handoverDue?.(...placeOf(run)) === true;
  };

  const begin = (state: RunState, inbox: Inbox): void => {
    const host = createMemoryHost({
      registry,
      agent,
      clock,
      inbox,
      chunks: options.chunks ?? { publish: () => undefined },
      handoverDue,
      ...(options.isFull === undefined ? {} : { isFull: options.isFull }),
      ...(options.fitsHandover === undefined ? {} : { fitsHandover: options.fitsHandover }),
      onEvent: (event, entry) => {
        events.push(event);
        if (entry !== undefined) entries.push(entry);
        options.onEvent?.(event, handle);
        for (const look of watchers) look();
      },
    });
    current = { run: createRun(state, host), host };
  };

  const drive = async (): Promise<Step> => {
    for (;;) {
      const { run, host } = current;
      const end = await runLoop(run, host, options.next ?? nextOf(spec), loaded.agent);
      if (end.kind === 'ended') {
        const unreadInputs = host.mailbox.peek().waiting.map((input) => input.id);
        const { runId } = run.state;
        return stepOf(run.state, end.ending, {
          workflowId: runId,
          executionId: runId,
          firstExecutionId: runId,
          unreadInputs,
        });
      }
      handedOverAt = keyOf(run);
      begin(roundTrip(run.state), roundTrip(host.mailbox.peek()));
    }
  };

  const settle = (
    id: string,
    check: (waits: Waits) => AnswerCheck,
    { updateId = `update-${(ids += 1)}` }: AnswerOptions = {},
  ): void => {
    const { mailbox } = current.host;
    const inbox = mailbox.peek();
    if (isAnsweredBy(inbox, updateId)) return;
    const checked = check(openWaits(current.run.state, inbox));
    if (checked.kind === 'refused') throw new UsageError('invalid_input', checked.message);
    mailbox.answer({ id, updateId, ...roundTrip(checked.body) });
    current.host.wake();
  };

  const handle: MemoryRun = {
    events,
    entries,
    get state() {
      return current.run.state;
    },
    // One turn of the event loop later, so that the caller can send and cancel before the start.
    result: Promise.resolve().then(drive),
    send: (text, { kind = 'queue', id } = {}) => {
      ids += 1;
      const position = current.host.mailbox.accept({ id: id ?? `input-${ids}`, kind, text });
      current.host.wake();
      return position;
    },
    cancel: (message = '') => {
      current.host.mailbox.cancel({ reason: 'canceled', message });
      current.host.wake();
    },
    adjust: (input) => {
      const merged = mergeLimits(current.run.state.limits, input);
      if (merged.kind === 'problems') {
        throw new UsageError('limit_key', merged.problems.map(({ message }) => message).join('\n'));
      }
      current.run.adjust(merged.limits);
    },
    pause: () => current.run.pause(),
    resume: () => current.run.resume(),
    program: () => current.run.program(),
    pending: () => pendingItems(current.run.state, current.host.mailbox.peek()),
    answer: (id, value, how) => settle(id, (waits) => checkAnswer(waits, id, value), how),
    decide: (id, decision, how) => settle(id, (waits) => checkDecision(waits, id, decision), how),
    resultOrPending: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const { waitingSince } = current.run.state;
          const pending = handle.pending();
          if ((waitingSince ?? null) === null || pending.length === 0) return;
          watchers = watchers.filter((watcher) => watcher !== look);
          resolve({ kind: 'pending', pending });
        };
        watchers = [...watchers, look];
        handle.result.then((step) => resolve({ kind: 'step', step }), reject);
        look();
      }),
  };
  const identity = { runId: 'run-1', agentPath: spec.name, depth: 0, startedAt: clock.now() };
  const head = {
    spec,
    ...(loaded.agent.material ?? givenMaterial(input)),
    ...(history === undefined ? {} : { history }),
  };
  begin(startState(identity, head, memory), EMPTY_INBOX);
  return handle;
}

function roundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
