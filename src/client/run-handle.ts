/** One run, from outside: ask it, tell it, stop it, await it. */
import {
  ApplicationFailure,
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkRunInput } from '../core/agent/check-input.ts';
import type { AgentEvent, InputKind } from '../core/agent/events.ts';
import type { RunInput } from '../core/agent/inbox.ts';
import type { LimitsInput } from '../core/agent/input.ts';
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
  sendUpdate,
  statsQuery,
  statusQuery,
} from '../workflows/messages.ts';
import { readChain, type ArchiveReader } from './chain-reader.ts';

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

/** A source of provisional text, in the same process or over an adapter. */
export interface ChunkSource {
  subscribe(filter: { readonly runId: string }): AsyncIterable<Chunk | ChunkMarker>;
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

/**
 * The service gives up on a query after 10 s, and its own answer says why. One that it sheds, because
 * too many wait, is asked again until then.
 */
const QUERY_DEADLINE_MS = 30_000;

/** A run that hands itself over is another execution for a moment; the same id makes a repeat safe. */
const HANDOVER_TRIES = 12;

/** An update waits for a worker; a fleet that is busy answers within seconds. */
const UPDATE_DEADLINE_MS = 30_000;

async function acrossHandover<Result>(
  id: string,
  client: Client,
  update: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + UPDATE_DEADLINE_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.withDeadline(deadline, update);
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && isRefusal(error.cause)) {
        throw new UsageError('invalid_input', error.cause.message);
      }
      if (!isMissed(error)) throw error;
      await assertAlive(id, client);
      if (Date.now() >= deadline) throw noWorker(id);
      if (attempt === HANDOVER_TRIES) throw error;
      await sleep(Math.min(50 * 2 ** attempt, 1_000));
    }
  }
}

function isRefusal(cause: unknown): cause is ApplicationFailure {
  return cause instanceof ApplicationFailure && cause.type === 'invalid_input';
}

function isMissed(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError) return true;
  // 5 NOT_FOUND, 10 ABORTED, 14 UNAVAILABLE: the codes of gRPC.
  return [5, 10, 14].includes(grpcCodeOf(error) ?? 0);
}

/** The gRPC status of a failed call, which the SDK wraps in an error of its own. */
function grpcCodeOf(error: unknown): number | undefined {
  const inner = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(inner) ? inner.code : undefined;
}

async function assertAlive(id: string, client: Client): Promise<void> {
  const { status } = await asking(id, () => client.workflow.getHandle(id).describe());
  if (isAlive(status.name)) return;
  throw new UsageError(
    'run_ended',
    `Expected run \`${id}\` to be alive, got one that is ${status.name}. Start a new run.`,
  );
}

function isAlive(status: string): boolean {
  return status === 'RUNNING' || status === 'CONTINUED_AS_NEW';
}

/** Turns what the client library says of an unknown or odd run into our words. */
async function asking<Result>(id: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      throw new UsageError(
        'run_not_found',
        `Expected the id of a run that is alive or within the service's retention, got \`${id}\`. List the runs to find it.`,
      );
    }
    if (error instanceof QueryNotRegisteredError) {
      throw new UsageError(
        'not_an_agent',
        `Expected \`${id}\` to be an agent's run, got another workflow.`,
      );
    }
    // 4 DEADLINE_EXCEEDED, 9 FAILED_PRECONDITION: nobody took the query up.
    if ([4, 9].includes(grpcCodeOf(error) ?? 0)) throw noWorker(id);
    throw error;
  }
}

function noWorker(id: string): UsageError {
  return new UsageError(
    'no_worker',
    `Expected a worker that answers for run \`${id}\`, got silence. Start one that has its agent; the run waits meanwhile and loses nothing.`,
  );
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

/** What a stream asks of its run. */
interface StreamParts {
  readonly id: string;
  readonly chunks: ChunkSource | undefined;
  readonly status: () => Promise<RunStatus>;
  readonly result: () => Promise<unknown>;
}

function streamOf(parts: StreamParts): AsyncIterable<Chunk | ChunkMarker> {
  return {
    [Symbol.asyncIterator]: () => {
      const leave = { now: (): void => undefined };
      const items = readStream(parts, leave);
      return {
        next: () => items.next(),
        return: () => {
          // A generator that waits for a silent model would hear of it at the next piece only.
          leave.now();
          return items.return(undefined);
        },
      };
    },
  };
}

async function* readStream(
  { id, chunks, status, result }: StreamParts,
  leave: { now: () => void },
): AsyncGenerator<Chunk | ChunkMarker, undefined> {
  if (chunks === undefined) {
    throw new UsageError(
      'no_stream',
      'Expected a client with a source of chunks, got one without. Use `connect()` or `local()`, or give `chunks` to the client.',
    );
  }
  const { runId, state } = await asking(id, status);
  if (state === 'ended') return;
  const source = chunks.subscribe({ runId })[Symbol.asyncIterator]();
  // A source knows nothing of runs: the end of the run is what ends the stream. It is a promise for
  // each piece, since one for all of them would keep every race until the run ends.
  let hasEnded = false;
  let wake = (): void => undefined;
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  void result().then(end, end);
  leave.now = end;
  try {
    for (;;) {
      const ended = new Promise<typeof END>((resolve) => {
        wake = () => resolve(END);
        if (hasEnded) wake();
      });
      const next = await Promise.race([source.next(), ended]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}

const END: IteratorResult<Chunk | ChunkMarker> = { done: true, value: undefined };
