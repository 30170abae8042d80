/** One run, from outside: ask it, tell it, stop it, await it. */
import {
  ApplicationFailure,
  type Client,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkRunInput } from '../core/agent/check-input.ts';
import type { AgentEvent, InputKind } from '../core/agent/events.ts';
import type { RunInput } from '../core/agent/inbox.ts';
import type { LimitsInput } from '../core/agent/input.ts';
import type { ProgramView } from '../core/agent/program/report.ts';
import type { Step } from '../core/agent/step.ts';
import type { MediaPart } from '../core/message.ts';
import type { Stats } from '../core/stats/stats.ts';
import type { Chunk, ChunkMarker } from '../core/streaming/chunk.ts';
import type { Entry } from '../core/transcript/entry.ts';
import { UsageError } from '../core/usage-error.ts';
import type { Json } from '../core/json.ts';
import type {
  Adjustment,
  AdjustReceipt,
  AnswerReceipt,
  PendingItem,
  RunStatus,
} from '../core/agent/messages.ts';
import type { Decision } from '../core/agent/pending.ts';
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
import { readChain, type ArchiveReader } from './chain-reader.ts';
import { followRun, type FollowRunOptions, type RunNews } from './follow-run.ts';
import { streamOf, type ChunkSource } from './run-stream.ts';
import {
  acrossHandover,
  asking,
  assertAlive,
  isAlive,
  QUERY_DEADLINE_MS,
} from './service-calls.ts';
import { readStartedWith, type RunStart } from './started-with.ts';

/** How an input is sent; see `RunInput`. */
export interface SendOptions {
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

/** One run, from outside. */
export interface RunHandle {
  /** The workflow id: the run's address. */
  readonly id: string;
  /** Where the run stands; safe to poll once a second. */
  status(): Promise<RunStatus>;
  stats(): Promise<Stats>;
  /** Everything that was said, over the whole chain of the run. */
  transcript(options?: ReadOptions): Promise<readonly Entry[]>;
  /** Everything that happened, over the whole chain of the run. */
  events(options?: ReadOptions): Promise<readonly AgentEvent[]>;
  /** The program that runs, else the last one that did, form by form; null when there was none. */
  program(): Promise<ProgramView | null>;
  /** What waits for people and the outside. */
  pending(): Promise<readonly PendingItem[]>;
  /**
   * Answers a question, by text, a label or its number, or ends outside work with its result.
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
  /** Stops before the next iteration, until `resume`. */
  pause(): Promise<AdjustReceipt>;
  resume(): Promise<AdjustReceipt>;
  /** Ends the run, aborting what is in flight; it still gives its Step. */
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
   * its iteration.
   */
  stream(): AsyncIterable<Chunk | ChunkMarker>;
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
    asking(id, () => client.withDeadline(Date.now() + QUERY_DEADLINE_MS, query));
  const result = async (): Promise<Step> => {
    try {
      return (await handle.result()) as Step;
    } catch (error) {
      return stepOfFailure(id, error, () => ask(() => handle.query(statusQuery)));
    }
  };
  const update = (adjustment: Adjustment): Promise<AdjustReceipt> => {
    const updateId = randomUUID();
    return acrossHandover(id, client, () =>
      handle.executeUpdate(adjustUpdate, { args: [adjustment], updateId }),
    );
  };
  const run: RunHandle = {
    id,
    status: () => ask(() => handle.query(statusQuery)),
    stats: () => ask(() => handle.query(statsQuery)),
    pending: () => ask(() => handle.query(pendingQuery)),
    program: () => ask(() => handle.query(programQuery)),
    transcript: async ({ from = 0 } = {}) => {
      const entries = await asking(id, () =>
        readChain({ client, id, kind: 'entries', from, archive }),
      );
      return entries as unknown as readonly Entry[];
    },
    events: async ({ from = 0 } = {}) => {
      const events = await asking(id, () =>
        readChain({ client, id, kind: 'events', from, archive }),
      );
      return events as unknown as readonly AgentEvent[];
    },
    send: async (text, options = {}) => {
      const input = inputOf(text, options);
      const receipt = await acrossHandover(id, client, () =>
        handle.executeUpdate(sendUpdate, { args: [input], updateId: input.id }),
      );
      return receipt.position;
    },
    answer: (itemId, value, { updateId = randomUUID() } = {}) =>
      acrossHandover(id, client, () =>
        handle.executeUpdate(answerUpdate, { args: [{ id: itemId, value, updateId }], updateId }),
      ),
    decide: (itemId, decision, { updateId = randomUUID() } = {}) =>
      acrossHandover(id, client, () =>
        handle.executeUpdate(decideUpdate, {
          args: [{ id: itemId, decision, updateId }],
          updateId,
        }),
      ),
    adjust: (limits) => update({ limits }),
    pause: () => update({ paused: true }),
    resume: () => update({ paused: false }),
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
    stream: () =>
      streamOf({
        id,
        chunks: parts.chunks,
        status: () => handle.query(statusQuery),
        result: () => handle.result(),
      }),
    follow: (options) => followRun(run, options),
    startedWith: () => asking(id, () => readStartedWith(client, id)),
  };
  return run;
}

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

async function stepOfFailure(
  id: string,
  error: unknown,
  status: () => Promise<RunStatus>,
): Promise<Step> {
  if (error instanceof WorkflowFailedError) {
    const { cause } = error;
    const step = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (step !== undefined && step !== null) return step as Step;
    if (cause instanceof CancelledFailure) {
      const ended = await status();
      if (ended.step !== undefined) return ended.step;
    }
    const said = (cause?.message ?? error.message).replace(/\.$/, '');
    throw new UsageError('no_step', `Expected run \`${id}\` to end with a Step, got: ${said}.`);
  }
  return asking(id, () => Promise.reject(error));
}
