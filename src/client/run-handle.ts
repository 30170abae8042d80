/** One run, from outside: ask it, tell it, stop it, await it. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkRunInput } from '../core/start/check-input.ts';
import type { AgentEvent, InputKind } from '../core/contract/events.ts';
import type { RunInput } from '../core/run/inbox.ts';
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
  Adjustment,
  AdjustReceipt,
  AnswerReceipt,
  PendingItem,
  RunStatus,
} from '../core/contract/messages.ts';
import type { Decision } from '../core/contract/pending.ts';
import {
  adjustUpdate,
  answerUpdate,
  cancelSignal,
  decideUpdate,
  pendingQuery,
  programQuery,
  sendUpdate,
  statsQuery,
  statusQuery,
} from '../workflows/messages.ts';
import { placeOfItem } from '../core/tree/calls.ts';
import { readChain, type ArchiveReader } from './chain-reader.ts';
import { followRun, type FollowRunOptions, type RunNews } from './follow-run.ts';
import { inTurns } from './in-turns.ts';
import { readStep } from './run-step.ts';
import { addressBelow, mergeEvents, readTree, withAllBelow, type TreeOption } from './run-tree.ts';
import { streamOf, type ChunkSource } from './run-stream.ts';
import { findRun, type TreeRun } from './tree-run.ts';
import { acrossHandover, asking, assertAlive, isAlive, querying } from './service-calls.ts';
import { readStartedWith, type RunStart } from './started-with.ts';

/** How an input is sent; see `RunInput`. With `tree` all runs below get it too, under the same id. */
export interface SendOptions extends TreeOption {
  /** Default `queue`. */
  readonly kind?: InputKind;
  /** Repeating an id gives the first position again; default: a new one. */
  readonly id?: string;
  readonly media?: readonly MediaPart[];
}

/** From where to read a list; counted over the whole chain of the run. */
export interface ReadOptions {
  /** Index of the first item; default 0. */
  readonly from?: number;
}

/** Which events to read: those of the run from one on, or all of a whole tree, which have no common number. */
export interface EventOptions extends ReadOptions, TreeOption {}

/** One run, from outside, with all runs below it. */
export interface RunHandle {
  /** The workflow id: the run's address. */
  readonly id: string;
  /** Where the run stands; safe to poll once a second. */
  status(): Promise<RunStatus>;
  stats(): Promise<Stats>;
  /** Everything that was said, over the whole chain of the run. */
  transcript(options?: ReadOptions): Promise<readonly Entry[]>;
  /**
   * Everything that happened, over the whole chain of the run; with `tree` also in all runs below, by
   * time. Runs have clocks of their own: only the order within each is exact.
   */
  events(options?: EventOptions): Promise<readonly AgentEvent[]>;
  /** The run and all below it, each before those that it has started; asks each of them. */
  tree(): Promise<readonly TreeRun[]>;
  /**
   * The handle of one run below, by its path in `tree()` or `pending()`, by the calls that lead to it
   * (`1.2/3.1`), or by its id. Only a path is looked up.
   *
   * @throws UsageError `no_such_path` when no run has the path, or several have.
   */
  child(path: string): Promise<RunHandle>;
  /** The program that runs, else the last one that did, form by form; null when there was none. */
  program(): Promise<ProgramView | null>;
  /** What waits for people and the outside, in the run and, as far as they have told, in all below. */
  pending(): Promise<readonly PendingItem[]>;
  /**
   * Answers a question, by text, a label or its number, or ends outside work with its result. `id` is
   * as in `pending()`, also of a run below.
   *
   * @throws UsageError `invalid_input` when nothing waits under the id, or the value is no answer.
   */
  answer(id: string, value: Json, options?: AnswerOptions): Promise<AnswerReceipt>;
  /**
   * Approves a call, denies it with a reason, or lets it run with other arguments.
   *
   * @throws UsageError `invalid_input` when no call waits under the id, or is decided already.
   */
  decide(id: string, decision: Decision, options?: AnswerOptions): Promise<AnswerReceipt>;
  /** Gives input; settles with its place in the order of arrival, from 1. */
  send(text: string, options?: SendOptions): Promise<number>;
  /** Raises or lowers limits; acts at once. */
  adjust(limits: LimitsInput): Promise<AdjustReceipt>;
  /**
   * Stops before the next iteration, and before the next call or question of a program, until `resume`;
   * with `tree` also all runs below that are found.
   */
  pause(options?: TreeOption): Promise<AdjustReceipt>;
  resume(options?: TreeOption): Promise<AdjustReceipt>;
  /** Ends the run and all below it, aborting what is in flight; each still gives its Step. */
  cancel(message?: string): Promise<void>;
  /** The Step, however the run ended; waits for the end. */
  result(): Promise<Step>;
  /** The Step, or what waits for a person, whichever comes first. */
  resultOrPending(): Promise<ResultOrPending>;
  /** The Step of a run that has ended, null while it is alive; needs no worker. */
  step(): Promise<Step | null>;
  /**
   * Provisional text as it comes, without what came before; ends with the run. What the run came to
   * is its Step alone: pieces may be missing, and a `restart` or a higher attempt voids the text of
   * its iteration. With `tree` that of all runs below too, told apart by `runId`; only from a root.
   */
  stream(options?: TreeOption): AsyncIterable<Chunk | ChunkMarker>;
  /**
   * Everything that somebody who talks with the run wants to hear, in one stream: text, what waits for
   * people, where it stands, and its Step at the end.
   */
  follow(options?: FollowRunOptions): AsyncIterable<RunNews>;
  /** What it was started with; needs no worker. */
  startedWith(): Promise<RunStart>;
}

/** How an answer or a decision is sent. */
export interface AnswerOptions {
  /** Repeating an id changes nothing and is no error; default: a new one. */
  readonly updateId?: string;
}

/** How a run ended, or that it waits for a person: then it goes on with an answer, and `run` is its handle. */
export type ResultOrPending =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'pending';
      /** At least one. */
      readonly pending: readonly PendingItem[];
      readonly run: RunHandle;
    };

/** What a handle is made of. */
export interface RunHandleParts {
  readonly client: Client;
  readonly chunks?: ChunkSource;
  readonly archive?: ArchiveReader;
}

/** The handle of the run with workflow id `id`. */
export function createRunHandle(id: string, parts: RunHandleParts): RunHandle {
  const { client, archive } = parts;
  const handle = client.workflow.getHandle(id);
  const ask = <Result>(query: () => Promise<Result>): Promise<Result> =>
    querying(id, client, query);
  const result = (): Promise<Step> => readStep(client, id);
  const tree = (): Promise<readonly TreeRun[]> => readTree(client, id);
  const below = (runId: string): RunHandle => createRunHandle(runId, parts);
  const adjust = (adjustment: Adjustment): Promise<AdjustReceipt> => {
    const updateId = randomUUID();
    return acrossHandover(id, client, () =>
      handle.executeUpdate(adjustUpdate, { args: [adjustment], updateId }),
    );
  };
  const ownEvents = async (from: number): Promise<readonly AgentEvent[]> => {
    const events = await readChain({ client, id, kind: 'events', from, archive });
    return events as unknown as readonly AgentEvent[];
  };
  /** Settles an item of the run itself, or leaves it to the run below that has it. */
  const settle = (
    itemId: string,
    own: () => Promise<AnswerReceipt>,
    ofChild: (child: RunHandle, childItem: string) => Promise<AnswerReceipt>,
  ): Promise<AnswerReceipt> => {
    const place = placeOfItem(itemId);
    if (place.calls.length === 0) return own();
    return ofChild(below([id, ...place.calls].join('/')), place.id).then(() => ({ id: itemId }));
  };
  const run: RunHandle = {
    id,
    status: () => ask(() => handle.query(statusQuery)),
    stats: () => ask(() => handle.query(statsQuery)),
    pending: () => ask(() => handle.query(pendingQuery)),
    program: () => ask(() => handle.query(programQuery)),
    transcript: async ({ from = 0 } = {}) => {
      const entries = await readChain({ client, id, kind: 'entries', from, archive });
      return entries as unknown as readonly Entry[];
    },
    events: async ({ from = 0, tree: wholeTree = false } = {}) => {
      if (!wholeTree) return ownEvents(from);
      if (from !== 0) throw new UsageError('number', NO_COMMON_NUMBER);
      const runs = await tree();
      return mergeEvents(await inTurns(runs, (each) => below(each.id).events()));
    },
    tree,
    child: async (path) => below(await addressBelow(id, path, tree)),
    send: async (text, options = {}) => {
      const input = inputOf(text, options);
      const { position } = await acrossHandover(id, client, () =>
        handle.executeUpdate(sendUpdate, { args: [input], updateId: input.id }),
      );
      if (options.tree === true) {
        await withAllBelow(id, tree, (runId) =>
          below(runId).send(text, { ...options, id: input.id, tree: false }),
        );
      }
      return position;
    },
    answer: (itemId, value, { updateId = randomUUID() } = {}) =>
      settle(
        itemId,
        () =>
          acrossHandover(id, client, () =>
            handle.executeUpdate(answerUpdate, {
              args: [{ id: itemId, value, updateId }],
              updateId,
            }),
          ),
        (child, childItem) => child.answer(childItem, value, { updateId }),
      ),
    decide: (itemId, decision, { updateId = randomUUID() } = {}) =>
      settle(
        itemId,
        () =>
          acrossHandover(id, client, () =>
            handle.executeUpdate(decideUpdate, {
              args: [{ id: itemId, decision, updateId }],
              updateId,
            }),
          ),
        (child, childItem) => child.decide(childItem, decision, { updateId }),
      ),
    adjust: (limits) => adjust({ limits }),
    pause: async (options = {}) => {
      const receipt = await adjust({ paused: true });
      if (options.tree === true) await withAllBelow(id, tree, (runId) => below(runId).pause());
      return receipt;
    },
    resume: async (options = {}) => {
      const receipt = await adjust({ paused: false });
      if (options.tree === true) await withAllBelow(id, tree, (runId) => below(runId).resume());
      return receipt;
    },
    cancel: async (message) => {
      const payload = message === undefined ? {} : { message };
      try {
        await handle.signal(cancelSignal, payload);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) await assertAlive(id, client);
        throw error;
      }
    },
    result,
    resultOrPending: () => firstOf(run),
    step: async () => {
      const { status } = await asking(id, () => handle.describe());
      return isAlive(status.name) ? null : result();
    },
    stream: ({ tree: wholeTree = false } = {}) =>
      streamOf({
        id,
        wholeTree,
        chunks: parts.chunks,
        status: () => run.status(),
        isRoot: async () => (await findRun(client, { id })).run.parent === null,
        result: () => handle.result(),
      }),
    follow: (options) => followRun(run, options),
    startedWith: () => asking(id, () => readStartedWith(client, id)),
  };
  return run;
}

const NO_COMMON_NUMBER =
  'Expected no `from` for the events of a tree, since each run numbers its own. Leave it out.';

/** How often a run is asked whether it waits for a person: soon at first, then as often as is polite. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 2_000;

/** The end of a run, or the first thing that waits for a person. The service tells of the end by itself. */
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
  // A query that finds nobody, or a wait that the end cuts short, leaves the end to decide.
  return Promise.race([step, waiting().catch(() => step)]);
}

function inputOf(
  text: string,
  { kind = 'queue', id = randomUUID(), media }: SendOptions,
): RunInput {
  const checked = checkRunInput({ id, kind, text, ...(media === undefined ? {} : { media }) });
  if (checked.kind === 'invalid') throw new UsageError('invalid_input', checked.message);
  return checked.input;
}
