/** The handle of one run, and the options of its methods. */
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import type { LimitsInput } from '../core/contract/input.ts';
import type { ProgramView } from '../core/contract/report.ts';
import type { RunMoment } from '../core/base/fork.ts';
import type { Step } from '../core/contract/step.ts';
import type { StateView } from '../core/fork/state-view.ts';
import type { MediaPart } from '../core/base/message.ts';
import type { Stats } from '../core/contract/stats.ts';
import type { Chunk, ChunkMarker, FeedMark, PushedEvent } from '../core/streaming/chunk.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Json } from '../core/base/json.ts';
import type {
  AdjustReceipt,
  AnswerReceipt,
  PendingItem,
  RetryReceipt,
  RunOverview,
  RunStatus,
} from '../core/contract/messages.ts';
import type { AnswerOptions, Decision, StatedActor } from '../core/contract/pending.ts';
import type { FollowRunOptions, RunUpdate } from './follow-run.ts';
import type { FollowEventsOptions } from './events/follow-events.ts';
import type { TreeOption, RunStart, TreeDepth } from './run-tree.ts';
import type { RunSummary } from './run-list.ts';
import type { AttemptRange, CallAttempt } from './reading/attempts.ts';
import type { LinkHistory } from './reading/histories.ts';
import type { RunLink } from './reading/links.ts';
import type { ResultOptions } from './connection/through-outage.ts';
import type { StreamToken } from '../protection/stream-token.ts';
import type { ProgramOptions, ProgramSummary } from './programs.ts';
import type { ScratchpadView } from './scratchpad.ts';
import type { TreeRun } from './tree-run.ts';

/** Options of `send`. With `tree`, all runs below get the input too, under the same id. */
export interface SendOptions extends TreeOption, StatedActor {
  /** Default `queue`. */
  readonly kind?: InputKind;
  /** A repeated id returns the first position again; default: a new id. */
  readonly id?: string;
  readonly media?: readonly MediaPart[];
}

/** Options of `streamToken`. */
export interface StreamTokenOptions {
  /** How long workers take it, in milliseconds; default an hour, at most a day. */
  readonly ttlMs?: number;
}

/** Options of `cancel`. */
export interface CancelOptions extends StatedActor {
  /**
   * True: the service ends the run at once, without a Step and without a worker. Default: the run
   * ends itself, which needs a worker that can take it.
   */
  readonly force?: boolean;
}

/** Options of `pause` and `resume`. */
export interface PauseOptions extends TreeOption, StatedActor {}

/** Which part of a list to read; indexes count over the whole chain of the run. */
export interface ReadOptions {
  /** Index of the first item; default 0. */
  readonly from?: number;
  /** At most this many items, from 1; default: all to the end. */
  readonly limit?: number;
}

/** Which events to read. `tree` excludes the others: each run numbers its own events. */
export interface EventOptions extends ReadOptions, TreeOption {}

/** The handle of one run. `Value` is the type of its answer, as its agent's definition says it. */
export interface RunHandle<Value = Json> {
  /** The workflow id. */
  readonly id: string;
  /** The current status; safe to poll once a second. */
  status(): Promise<RunStatus>;
  /**
   * What the service knows of the run: its agent, its parent, when it started and ended. Needs no
   * worker.
   *
   * @throws UsageError `run_not_found`, `not_an_agent`.
   */
  summary(): Promise<RunSummary>;
  stats(): Promise<Stats>;
  /**
   * Time travel: the run as it stood at a moment, before an iteration began. A worker of the run's
   * queue replays its history; the run is not touched, and may be alive or ended.
   *
   * @throws UsageError `fork_moment`, `history_gone`, `replay_failed`, `fork_workflows`,
   * `state_too_large`, `no_worker`, `run_not_found`, `not_an_agent`.
   */
  at(moment: RunMoment): Promise<StateView>;
  /**
   * Status, statistics, limits, budgets and what waits: one query. Safe to poll once a second. Those
   * of an ended run come from its Step and its archive, without a worker; without an archive, `limits`
   * and `budgets` are empty.
   */
  view(): Promise<RunOverview>;
  /**
   * The iteration that is open: the reply and its calls, before the transcript has them. Null
   * between two iterations and after the end.
   */
  current(): Promise<CurrentIteration | null>;
  /**
   * What the next model call sees: messages, tools and settings.
   *
   * @throws UsageError `no_model` for a run that asks none.
   */
  scratchpad(): Promise<ScratchpadView>;
  /** The links of the chain that the service still has, oldest first; needs no worker. */
  links(): Promise<readonly RunLink[]>;
  /**
   * The histories of the links that the service still has, oldest first, for `everloop replay` and
   * other tools; needs no worker. Encrypted where the run is. Each is read when it is asked for.
   *
   * @throws UsageError `run_not_found`.
   */
  histories(): AsyncIterable<LinkHistory>;
  /**
   * The attempts of the run's calls, by time: when each began and ended, on which worker, and why it
   * failed. From the histories that the service still has; needs no worker.
   */
  attempts(range?: AttemptRange): Promise<readonly CallAttempt[]>;
  /** The transcript, over the whole chain of the run. */
  transcript(options?: ReadOptions): Promise<readonly Entry[]>;
  /**
   * The events, over the whole chain of the run. With `tree`, also those of all runs below, by
   * time; only the order within each run is exact, because runs have separate clocks.
   */
  events(options?: EventOptions): Promise<readonly AgentEvent[]>;
  /**
   * The events from `from` on, each as soon as a worker records it, until the run ends. Workers push
   * them where they can, and the run is asked for those that are missing, at most twice a second on
   * the average. While no worker answers, it waits.
   *
   * Each comes once, in the order of `seq`, with one exception: if a worker died before the service
   * had what it pushed, and the run then went another way, the events from there on come again.
   *
   * @throws UsageError `run_not_found`, `not_an_agent`, `keys_missing`.
   */
  followEvents(options?: FollowEventsOptions): AsyncIterable<AgentEvent>;
  /**
   * The events that workers push, at least once and with gaps, and a `feed` mark where some may be
   * missing; `events({ from, limit })` has them. With `tree`, also those of all runs below; only from
   * a root. Asks no worker for anything, and ends only when its reader leaves, or its source closes.
   *
   * @throws UsageError `no_stream`, `run_not_found`, `not_an_agent`; `stream_token` when all workers
   * refuse the token.
   */
  pushedEvents(options?: TreeOption): AsyncIterable<PushedEvent | FeedMark>;
  /**
   * The run and all runs below, each before its children. Queries each of them. With `depth`, only
   * so many levels below the run; `children` names those of the next level.
   */
  tree(options?: TreeDepth): Promise<readonly TreeRun[]>;
  /**
   * The handle of a run below, by its path in `tree()` or `pending()`, by the calls that lead to it
   * (`1.2/3.1`), or by its id. Only a path needs a lookup.
   *
   * @throws UsageError `no_such_path` when no run has the path, or several have.
   */
  child(path: string): Promise<RunHandle>;
  /**
   * A program form by form, with its whole source: the current one, or else the newest, or that of
   * `id`; null if there was none. Those of ended runs come from the archive, without a worker.
   *
   * @throws UsageError `invalid_input` for an id that no program can have.
   */
  program(options?: ProgramOptions): Promise<ProgramView | null>;
  /** The programs that the run began, oldest first, without their sources. Reads all events. */
  programs(): Promise<readonly ProgramSummary[]>;
  /** What waits for people or outside work, in the run and, as last reported, in all runs below. */
  pending(): Promise<readonly PendingItem[]>;
  /**
   * Answers a question with text, or with the label or number of an option; or ends outside work
   * with its result. `id` is from `pending()`, and may belong to a run below. Without a worker it is
   * accepted within three seconds, as `unapplied`.
   *
   * @throws UsageError `invalid_input` when no item with this id waits, or the value does not fit;
   * `service_unavailable` after ten seconds without the service. Repeat it under the same `updateId`.
   */
  answer(id: string, value: Json, options?: AnswerOptions): Promise<AnswerReceipt>;
  /**
   * Approves a call, denies it with a reason, or changes its arguments. With `remember`, an approval
   * holds for later calls of the run, too. Without a worker as `answer`.
   *
   * @throws UsageError `invalid_input` when no call with this id waits for a decision;
   * `service_unavailable` as `answer`.
   */
  decide(id: string, decision: Decision, options?: AnswerOptions): Promise<AnswerReceipt>;
  /**
   * Ends an approval that was given with `remember`; `status()` lists them under `approvals`. `id` is that
   * of the call for which it was given; in a run below, with the calls that lead there.
   *
   * @throws UsageError `invalid_input` when no approval with this id holds.
   */
  revoke(id: string, options?: StatedActor): Promise<void>;
  /**
   * Has a call tried once more that ten workers died with and that waits for an operator; `status()` shows
   * it under `waitsFor`. `callId` is that of its event `agent:tool_call:before`; in a run below, with
   * the calls that lead there, `1.2/3.1`.
   *
   * @throws UsageError `invalid_input` when no call with this id waits for an operator.
   */
  retry(callId: string): Promise<RetryReceipt>;
  /**
   * Sends input; settles with its position in the order of arrival, from 1. Null: no worker has taken
   * it within three seconds, and the service keeps it. If the run then refuses it, an event
   * `agent:warning` says why.
   *
   * @throws UsageError `invalid_input`, `run_ended`; `service_unavailable` after ten seconds without
   * the service. Repeat it under the same `id`, which has no effect if the run has it.
   */
  send(text: string, options?: SendOptions): Promise<number | null>;
  /** Raises or lowers limits, with immediate effect. */
  adjust(limits: LimitsInput, options?: StatedActor): Promise<AdjustReceipt>;
  /**
   * Pauses the run until `resume`. It stops before its next iteration, or before the next call or
   * question of its program. With `tree`, also pauses all live runs below.
   */
  pause(options?: PauseOptions): Promise<AdjustReceipt>;
  resume(options?: PauseOptions): Promise<AdjustReceipt>;
  /** Ends the run and all runs below, and aborts what is in flight. Each still ends with a Step. */
  cancel(message?: string, options?: CancelOptions): Promise<void>;
  /**
   * The id of the trace with the spans of the run's tree, 32 hexadecimal digits; known from the start,
   * whether spans are sent or not.
   */
  traceId(): Promise<string>;
  /**
   * The Step, however the run ended. Waits for the end, also while the Temporal service is away, until
   * `signal` is aborted or `deadlineMs` is over.
   *
   * @throws UsageError `wait_over` when the wait ends first; `no_step`, `run_not_found`.
   */
  result(options?: ResultOptions): Promise<Step<Value>>;
  /** The Step, or what waits for a person, whichever comes first. Waits as `result` does. */
  resultOrPending(options?: ResultOptions): Promise<ResultOrPending<Value>>;
  /** The Step of an ended run, null while it is live; needs no worker. */
  step(): Promise<Step<Value> | null>;
  /**
   * Provisional text: first of the reply that is being written, then what comes; ends with the run.
   * Only the Step is final: chunks may be missing, and a `restart` or a higher attempt replaces the
   * text of its iteration. With `tree`, includes the text of all runs below, with their `runId`;
   * only from a root.
   *
   * @throws UsageError `no_stream`, `run_not_found`, `not_an_agent`; `stream_token` when all workers
   * refuse the token.
   */
  stream(options?: TreeOption): AsyncIterable<Chunk | ChunkMarker>;
  /**
   * A token with which others read the provisional text of this run and of all runs below it, and
   * nothing else, such as a page in a browser. Only from a root.
   *
   * @throws UsageError `stream_token` when the client has no token of the workers, `number` for a
   * life under a second or over a day, `no_stream`, `run_not_found`, `not_an_agent`.
   */
  streamToken(options?: StreamTokenOptions): Promise<StreamToken>;
  /**
   * Everything that a user interface needs, in one stream: text, what waits for people, the status,
   * and the Step at the end.
   */
  follow(options?: FollowRunOptions): AsyncIterable<RunUpdate<Value>>;
  /** What it was started with; needs no worker. */
  startedWith(): Promise<RunStart>;
}

/** The Step of an ended run, or the items of a run that waits for a person. */
export type ResultOrPending<Value = Json> =
  | { readonly kind: 'step'; readonly step: Step<Value> }
  | {
      readonly kind: 'pending';
      /** At least one. */
      readonly pending: readonly PendingItem[];
      readonly run: RunHandle<Value>;
    };
