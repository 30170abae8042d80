/**
 * Reads runs without their workers: a reader replays the history of a link, once, and answers what a
 * worker would. The history is the truth, so its answers are right whether a worker is there or not.
 *
 * I1  A worker that answers within {@link SILENT_MS} is not read beside; of both, the first answer
 *     counts. So reading is fast with a worker, and a slow one is not waited for.
 * I2  A link that is closed is read by its history alone: a worker would replay it for each question.
 * I3  Where a client has no reader, or its reader lacks something, workers are asked as before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import { defined } from '../../core/base/defined.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { EventsRequest, LinkPage, TranscriptRequest } from '../../core/contract/messages.ts';
import { MESSAGE_NAMES } from '../../core/contract/messages.ts';
import type { LinkAnswers, LinkItems } from '../../core/fork/link-answers.ts';
import type { Protection } from '../../protection/protection.ts';
import { querying } from '../connection/service-calls.ts';
import { isAway } from '../connection/service-errors.ts';

/** A link to read; without `executionId`, the newest of the run. */
export interface ReadPlace {
  readonly id: string;
  readonly executionId?: string | undefined;
}

/** A link that was read. */
export interface ReadLink {
  readonly executionId: string;
  /** Whether it may go on. */
  readonly isOpen: boolean;
  readonly answers: LinkAnswers;
}

/** Reads links by replaying their histories. */
export interface HistoryReader {
  /**
   * @throws UsageError `run_not_found`, `not_an_agent`; `keys_missing`, `no_blobs`, and
   * `reader_needs_worker` for a run whose own parts or version this process does not have.
   */
  read(client: Client, place: ReadPlace): Promise<ReadLink>;
  close(): Promise<void>;
}

/** What a reader is opened with. */
export interface ReaderSetup {
  readonly protection: Protection;
  /** The data folder of the workers on this machine. */
  readonly dataDir: string;
}

const readers = new WeakMap<Client, HistoryReader>();

/** Gives `client` a reader, which all that reads with it uses. */
export function readWith(client: Client, reader: HistoryReader): void {
  readers.set(client, reader);
}

/** What answers queries: a handle of the run, or what was read of it. */
export type QueriedRun = Pick<WorkflowHandle, 'query'>;

/** How long a worker may be silent before the run is read. */
const SILENT_MS = 1_000;

/** How long reading may take before a worker is asked beside it: a checkout first makes the bundle. */
const READ_MS = 3_000;

/** How long a worker has to answer for a run that cannot be read. */
const WORKER_MS = 10_000;

/** How long it may be silent if it was so lately. */
const STILL_SILENT_MS = 200;

/** How long a run counts as silent. */
const LATELY_MS = 15_000;

/** Runs without a worker that are remembered, for each client. */
const MAX_SILENT = 1_000;

const silent = new WeakMap<Client, Map<string, number>>();

/** A question to a run, to its workers and to its history. */
export interface AskedRun<Result> {
  readonly client: Client;
  readonly id: string;
  /** Asks a worker; `signal` gives the question up. */
  readonly ask: (signal: AbortSignal) => Promise<Result>;
  readonly read: (link: ReadLink) => Promise<Result>;
}

/** The first answer of a worker or of the history. @throws UsageError as both. */
export async function besideWorkers<Result>(question: AskedRun<Result>): Promise<Result> {
  const { client, id, ask } = question;
  const reader = readers.get(client);
  const left = new AbortController();
  if (reader === undefined) return ask(left.signal);
  const asked = endedOf(ask(left.signal));
  const waitMs = wasSilent(client, id) ? STILL_SILENT_MS : SILENT_MS;
  const early = await Promise.race([asked, sleep(waitMs, null, { ref: false })]);
  if (early !== null && 'answer' in early) return heard(client, id, early.answer);
  if (early !== null && !isSilence(early.error)) throw early.error;
  const read = reader.read(client, { id }).then(
    async (link) => ({ answer: await question.read(link), isRead: true }),
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([asked, read]);
  const ended = 'answer' in first ? first : await betterOf(asked, read);
  left.abort();
  if ('error' in ended) throw ended.error;
  if ('isRead' in ended) noteSilent(client, id);
  return ended.answer;
}

type Ended<Result> = { readonly answer: Result } | { readonly error: unknown };

/**
 * The answer of one of both; else why the run cannot be read, unless a worker says more within
 * {@link WORKER_MS}.
 */
async function betterOf<Asked extends Ended<unknown>, Read extends Ended<unknown>>(
  asked: Promise<Asked>,
  read: Promise<Read>,
): Promise<Asked | Read> {
  const two = await read;
  if ('answer' in two) return two;
  const one = await Promise.race([asked, sleep(WORKER_MS, null, { ref: false })]);
  return one === null || ('error' in one && isSilence(one.error)) ? two : one;
}

/**
 * Asks the history of a link that is closed, or a worker where it cannot be read at once.
 *
 * @throws UsageError as `querying`, or why it cannot be read if no worker answers.
 */
export async function queryClosed<Result>(
  client: Client,
  { id, executionId }: ReadPlace,
  query: (run: QueriedRun) => Promise<Result>,
): Promise<Result> {
  const reader = readers.get(client);
  const left = new AbortController();
  const handle = client.workflow.getHandle(id, executionId);
  const ask = (): Promise<Result> =>
    querying(id, client, () => query(handle), undefined, left.signal);
  if (reader === undefined) return ask();
  const read = endedOf(
    reader.read(client, { id, executionId }).then(({ answers }) => query(answering(answers))),
  );
  const early = await Promise.race([read, sleep(READ_MS, null, { ref: false })]);
  if (early !== null && 'answer' in early) return early.answer;
  const asked = endedOf(ask());
  const first = await Promise.race([read, asked]);
  const ended = 'answer' in first ? first : await betterOf(asked, read);
  left.abort();
  if ('error' in ended) throw ended.error;
  return ended.answer;
}

/** How `promise` ends; never rejects. */
function endedOf<Value>(promise: Promise<Value>): Promise<Ended<Value>> {
  return promise.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

/** Asks a run that may be open or closed: its workers, and its history beside them. */
export function queryAny<Result>(
  client: Client,
  id: string,
  query: (run: QueriedRun) => Promise<Result>,
  withinMs?: number,
): Promise<Result> {
  const handle = client.workflow.getHandle(id);
  return besideWorkers({
    client,
    id,
    ask: (left) => querying(id, client, () => query(handle), withinMs, left),
    read: ({ answers }) => query(answering(answers)),
  });
}

/** Whether an error says that nobody is there who would answer. */
function isSilence(error: unknown): boolean {
  return isAway(error) || (isUsageError(error) && SILENCE.has(error.code));
}

const SILENCE: ReadonlySet<string> = new Set(['no_worker', 'query_failed']);

function wasSilent(client: Client, id: string): boolean {
  return (silent.get(client)?.get(id) ?? -Infinity) > Date.now() - LATELY_MS;
}

function noteSilent(client: Client, id: string): void {
  const runs = silent.get(client) ?? new Map<string, number>();
  silent.set(client, runs);
  runs.delete(id);
  runs.set(id, Date.now());
  const [oldest] = runs.keys();
  if (runs.size > MAX_SILENT && oldest !== undefined) runs.delete(oldest);
}

function heard<Answer>(client: Client, id: string, answer: Answer): Answer {
  silent.get(client)?.delete(id);
  return answer;
}

/** Answers the queries of a link from what was read of it. */
export function answering(answers: LinkAnswers): QueriedRun {
  return {
    query: async <Result, Args extends unknown[]>(
      definition: QueryDefinition<Result, Args> | string,
      ...args: Args
    ): Promise<Result> => {
      const name = typeof definition === 'string' ? definition : definition.name;
      return answerTo(answers, name, args[0]) as Result;
    },
  };
}

function answerTo(answers: LinkAnswers, name: string, request: unknown): unknown {
  switch (name) {
    case MESSAGE_NAMES.events:
      return pageOf(answers, answers.events, request as EventsRequest);
    case MESSAGE_NAMES.transcript: {
      const asked = request as TranscriptRequest;
      const scratchpad = { first: 0, items: answers.scratchpad };
      return pageOf(answers, asked.view === 'history' ? answers.entries : scratchpad, asked);
    }
    default:
      return answers[name as keyof LinkAnswers];
  }
}

/** All that is asked for in one page, for it crosses no boundary. */
function pageOf(
  { previous, forkedFrom }: LinkAnswers,
  { first, items }: LinkItems,
  { from, limit = Infinity }: Pick<EventsRequest, 'from' | 'limit'>,
): LinkPage {
  const start = Math.max(0, from.index - first);
  const page = items.slice(start, start + limit);
  const end = start + page.length;
  const next = end < items.length ? { index: first + end, offset: 0 } : null;
  return { items: page, next, first, previous, ...defined({ forkedFrom }) };
}
