/** The handle of one run: reads it, sends it messages, stops it, waits for it. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/base/defined.ts';
import { checkRunInput } from '../core/start/check-input.ts';
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import type { RunInput } from '../core/run/inbox.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import type { LimitsInput } from '../core/contract/input.ts';
import type { ProgramView } from '../core/contract/report.ts';
import type { Step } from '../core/contract/step.ts';
import type { MediaPart } from '../core/base/message.ts';
import type { Stats } from '../core/contract/stats.ts';
import type { Chunk, ChunkMarker } from '../core/streaming/chunk.ts';
import type { Entry } from '../core/contract/entry.ts';
import { UsageError } from '../core/base/usage-error.ts';
import type { Json } from '../core/base/json.ts';
import type {
  AdjustReceipt,
  AnswerReceipt,
  PendingItem,
  RetryReceipt,
  RunOverview,
  RunStatus,
} from '../core/contract/messages.ts';
import type { AnswerOptions, Decision } from '../core/contract/pending.ts';
import {
  adjustUpdate,
  answerUpdate,
  decideUpdate,
  retryUpdate,
  pendingQuery,
  programQuery,
  sendUpdate,
} from '../workflows/messages.ts';
import { placeOfItem } from '../core/tree/calls.ts';
import { readChain, type ArchiveReader, type ChainList } from './reading/chain-reader.ts';
import { followRun, type FollowRunOptions, type RunUpdate } from './follow-run.ts';
import { inTurns } from './in-turns.ts';
import {
  addressBelow,
  mergeEvents,
  readTree,
  withAllBelow,
  type TreeOption,
  readStartedWith,
  type RunStart,
} from './run-tree.ts';
import { readSummary, type RunSummary } from './run-list.ts';
import { queryOpen } from './reading/ended-run.ts';
import { createKeptLinks, type KeptLinks } from './reading/kept-links.ts';
import { readAttempts, type AttemptRange, type CallAttempt } from './reading/attempts.ts';
import { readLinks, type RunLink } from './reading/links.ts';
import { readStats, readStatus } from './reading/run-status.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import {
  identifyRun,
  rootOf,
  streamOf,
  type ChunkSource,
  type StreamedRun,
  type StreamParts,
} from './run-stream.ts';
import { signStreamToken, type StreamToken } from '../protection/stream-token.ts';
import { readCurrent, readOverview } from './run-overview.ts';
import { readScratchpad, type ScratchpadView } from './scratchpad.ts';
import type { TreeRun } from './tree-run.ts';
import { acrossHandover, cancelRun } from './send-update.ts';
import { asking, isAlive, querying, readStep, readTraceId } from './connection/service-calls.ts';
import { tolerant } from './connection/open-connection.ts';

/** Options of `send`. With `tree`, all runs below get the input too, under the same id. */
export interface SendOptions extends TreeOption {
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
export interface CancelOptions {
  /**
   * True: the service ends the run at once, without a Step and without a worker. Default: the run
   * ends itself, which needs a worker that can take it.
   */
  readonly force?: boolean;
}

/** Which part of a list to read; indexes count over the whole chain of the run. */
export interface ReadOptions {
  /** Index of the first item; default 0. */
  readonly from?: number;
  /** At most this many items, from 1; default: all to the end. */
  readonly limit?: number;
}

/** Which events to read. `tree` excludes the others: each run numbers its own events. */
export interface EventOptions extends ReadOptions, TreeOption {}

/** The handle of one run. */
export interface RunHandle {
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
  /** Status, statistics, limits, budgets and what waits: one query. Safe to poll once a second. */
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
  /** The run and all runs below, each before its children. Queries each of them. */
  tree(): Promise<readonly TreeRun[]>;
  /**
   * The handle of a run below, by its path in `tree()` or `pending()`, by the calls that lead to it
   * (`1.2/3.1`), or by its id. Only a path needs a lookup.
   *
   * @throws UsageError `no_such_path` when no run has the path, or several have.
   */
  child(path: string): Promise<RunHandle>;
  /** The current program, or else the last one, form by form; null if there was none. */
  program(): Promise<ProgramView | null>;
  /** What waits for people or outside work, in the run and, as last reported, in all runs below. */
  pending(): Promise<readonly PendingItem[]>;
  /**
   * Answers a question with text, or with the label or number of an option; or ends outside work
   * with its result. `id` is from `pending()`, and may belong to a run below.
   *
   * @throws UsageError `invalid_input` when no item with this id waits, or the value does not fit.
   */
  answer(id: string, value: Json, options?: AnswerOptions): Promise<AnswerReceipt>;
  /**
   * Approves a call, denies it with a reason, or changes its arguments.
   *
   * @throws UsageError `invalid_input` when no call with this id waits for a decision.
   */
  decide(id: string, decision: Decision, options?: AnswerOptions): Promise<AnswerReceipt>;
  /**
   * Has a call tried once more that ten workers died with and that waits for an operator; `status()` shows
   * it under `waitsFor`. `callId` is that of its event `agent:tool_call:before`; in a run below, with
   * the calls that lead there, `1.2/3.1`.
   *
   * @throws UsageError `invalid_input` when no call with this id waits for an operator.
   */
  retry(callId: string): Promise<RetryReceipt>;
  /** Sends input; settles with its position in the order of arrival, from 1. */
  send(text: string, options?: SendOptions): Promise<number>;
  /** Raises or lowers limits, with immediate effect. */
  adjust(limits: LimitsInput): Promise<AdjustReceipt>;
  /**
   * Pauses the run until `resume`. It stops before its next iteration, or before the next call or
   * question of its program. With `tree`, also pauses all live runs below.
   */
  pause(options?: TreeOption): Promise<AdjustReceipt>;
  resume(options?: TreeOption): Promise<AdjustReceipt>;
  /** Ends the run and all runs below, and aborts what is in flight. Each still ends with a Step. */
  cancel(message?: string, options?: CancelOptions): Promise<void>;
  /**
   * The id of the trace with the spans of the run's tree, 32 hexadecimal digits; known from the start,
   * whether spans are sent or not.
   */
  traceId(): Promise<string>;
  /** The Step, however the run ended; waits for the end. */
  result(): Promise<Step>;
  /** The Step, or what waits for a person, whichever comes first. */
  resultOrPending(): Promise<ResultOrPending>;
  /** The Step of an ended run, null while it is live; needs no worker. */
  step(): Promise<Step | null>;
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
  follow(options?: FollowRunOptions): AsyncIterable<RunUpdate>;
  /** What it was started with; needs no worker. */
  startedWith(): Promise<RunStart>;
}

/** The Step of an ended run, or the items of a run that waits for a person. */
export type ResultOrPending =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'pending';
      /** At least one. */
      readonly pending: readonly PendingItem[];
      readonly run: RunHandle;
    };

/** What {@link createRunHandle} needs. */
export interface RunHandleParts {
  readonly client: Client;
  /** Source of provisional text; without one, `stream()` fails. */
  readonly chunks?: ChunkSource;
  /** Where to read pages that the service no longer keeps. */
  readonly archive?: ArchiveReader;
  /** What the client has read of closed links; default: of this handle alone. */
  readonly kept?: KeptLinks;
  /** The reader tokens of the workers, separated by commas: the first signs scoped tokens. */
  readonly streamToken?: string;
}

/** What a client knows of a run that it has just started. */
export interface JustStarted {
  readonly runId: string;
  /** Gives the stream that was opened with the start, once. */
  readonly opened?: StreamParts['opened'];
}

/** A handle's run, and how its methods reach it. */
interface Target extends RunHandleParts {
  readonly kept: KeptLinks;
  readonly id: string;
  readonly handle: WorkflowHandle;
  readonly tree: () => Promise<readonly TreeRun[]>;
  /** The handle of a run of the same tree. */
  readonly handleOf: (id: string) => RunHandle;
}

/** The handle of the run with workflow id `id`. */
export function createRunHandle(
  id: string,
  parts: RunHandleParts,
  started?: JustStarted,
): RunHandle {
  const { client, chunks, streamToken: readers, kept = createKeptLinks() } = parts;
  const target: Target = {
    ...parts,
    kept,
    id,
    handle: client.workflow.getHandle(id),
    tree: () => readTree(client, id),
    handleOf: (runId) => createRunHandle(runId, { ...parts, kept }),
  };
  const identify = async (): Promise<StreamedRun> =>
    started === undefined
      ? identifyRun(client, id)
      : { runId: started.runId, isRoot: true, endedAt: null };
  const run: RunHandle = {
    id,
    ...readMethods(target),
    ...messageMethods(target),
    resultOrPending: () => firstOf(run),
    stream: ({ tree: wholeTree = false } = {}) =>
      streamOf({
        id,
        wholeTree,
        chunks,
        opened: started?.opened,
        identify,
        result: () => target.handle.result(),
      }),
    streamToken: async ({ ttlMs } = {}) => {
      const rootRunId = rootOf(id, await identify());
      return signStreamToken({ rootRunId, ttlMs, readers });
    },
    follow: (options) => followRun(run, options),
  };
  return run;
}

/** The methods that read the run and do not change it. */
function readMethods({ id, client, archive, kept, handle, tree, handleOf }: Target) {
  const ask = <Result>(query: () => Promise<Result>): Promise<Result> =>
    querying(id, client, query);
  const result = (): Promise<Step> => readStep(client, id);
  const read = async <Item>(
    kind: ChainList,
    { from = 0, limit }: ReadOptions,
  ): Promise<readonly Item[]> => {
    const range = defined({ from, limit });
    return (await readChain({ client, id, kind, archive, kept, ...range })) as unknown as Item[];
  };
  return {
    status: () => readStatus(client, id),
    summary: () => readSummary(client, id),
    traceId: () => readTraceId(client, id),
    stats: () => readStats(client, id),
    pending: async () =>
      (await queryOpen(client, id, (open) => open.query(pendingQuery)))?.answer ?? [],
    program: () => ask(() => handle.query(programQuery)),
    transcript: (options = {}) => read<Entry>('entries', options),
    events: async ({ tree: wholeTree = false, ...range } = {}) => {
      if (!wholeTree) return read<AgentEvent>('events', range);
      if ((range.from ?? 0) !== 0 || range.limit !== undefined)
        throw new UsageError('number', NO_COMMON_NUMBER);
      return mergeEvents(await inTurns(await tree(), (each) => handleOf(each.id).events()));
    },
    view: () => readOverview(client, id),
    current: () => readCurrent(client, id),
    links: () => readLinks(client, id),
    scratchpad: () => readScratchpad(client, id),
    attempts: (range) => readAttempts({ client, id, kept }, range),
    tree,
    child: async (path) => handleOf(await addressBelow(id, path, tree)),
    result,
    step: async () => {
      const { status } = await asking(id, () => tolerant(client).workflow.getHandle(id).describe());
      return isAlive(status.name) ? null : result();
    },
    startedWith: () => asking(id, () => readStartedWith(client, id)),
  } satisfies Partial<RunHandle>;
}

/** The methods that send something to the run. */
function messageMethods({ id, client, tree, handleOf }: Target) {
  const update = <Result, Arg>(
    definition: UpdateDefinition<Result, [Arg]>,
    arg: Arg,
    updateId: string = randomUUID(),
  ): Promise<Result> =>
    acrossHandover(id, client, definition, { arg, updateId: wellFormedText(updateId) });
  const setPaused = async (paused: boolean, options: TreeOption = {}): Promise<AdjustReceipt> => {
    const receipt = await update(adjustUpdate, { paused });
    if (options.tree === true) {
      await withAllBelow(id, tree, (runId) =>
        paused ? handleOf(runId).pause() : handleOf(runId).resume(),
      );
    }
    return receipt;
  };
  /** The run below that has an item, and the item's id there; null for an item of this run. */
  const ownerOf = (itemId: string): { readonly run: RunHandle; readonly item: string } | null => {
    const { calls, id: item } = placeOfItem(itemId);
    return calls.length === 0 ? null : { run: handleOf([id, ...calls].join('/')), item };
  };
  return {
    send: async (text, options = {}) => {
      const input = inputOf(text, options);
      const { position } = await update(sendUpdate, input, input.id);
      if (options.tree === true) {
        await withAllBelow(id, tree, (runId) =>
          handleOf(runId).send(text, { ...options, id: input.id, tree: false }),
        );
      }
      return position;
    },
    answer: async (itemId, value, { updateId = randomUUID() } = {}) => {
      const owner = ownerOf(itemId);
      if (owner === null) return update(answerUpdate, { id: itemId, value, updateId }, updateId);
      await owner.run.answer(owner.item, value, { updateId });
      return { id: itemId };
    },
    decide: async (itemId, decision, { updateId = randomUUID() } = {}) => {
      const owner = ownerOf(itemId);
      if (owner === null) return update(decideUpdate, { id: itemId, decision, updateId }, updateId);
      await owner.run.decide(owner.item, decision, { updateId });
      return { id: itemId };
    },
    retry: async (callId) => {
      const owner = ownerOf(callId);
      if (owner === null) return update(retryUpdate, { callId });
      await owner.run.retry(owner.item);
      return { callId };
    },
    adjust: (limits) => update(adjustUpdate, { limits }),
    pause: (options) => setPaused(true, options),
    resume: (options) => setPaused(false, options),
    cancel: (message, { force = false } = {}) =>
      cancelRun(id, client, { force, ...defined({ message }) }),
  } satisfies Partial<RunHandle>;
}

const NO_COMMON_NUMBER =
  'Expected neither `from` nor `limit` for the events of a tree, since each run numbers its own. Leave them out.';

/** How often `pending` is queried: soon at first, then less and less often. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 2_000;

/** The end of a run, or the first item that waits for a person. Only the latter needs polling. */
async function firstOf(run: RunHandle): Promise<ResultOrPending> {
  const ended = new AbortController();
  const result = run.result().finally(() => ended.abort());
  const waiting = async (): Promise<ResultOrPending> => {
    for (let waitMs = FIRST_POLL_MS; !ended.signal.aborted; waitMs *= 2) {
      const pending = await run.pending();
      if (pending.length > 0) return { kind: 'pending', pending, run };
      await sleep(Math.min(waitMs, MAX_POLL_MS), undefined, { signal: ended.signal });
    }
    return { kind: 'step', step: await result };
  };
  const step = result.then((ending): ResultOrPending => ({ kind: 'step', step: ending }));
  // When a query fails, or the run ends during a pause, return the result.
  return Promise.race([step, waiting().catch(() => step)]);
}

function inputOf(
  text: string,
  { kind = 'queue', id = randomUUID(), media }: SendOptions,
): RunInput {
  const checked = checkRunInput(defined({ id, kind, text, media }));
  if (checked.kind === 'invalid') throw new UsageError('invalid_input', checked.message);
  return checked.input;
}
