/**
 * A run as a stream of the AI SDK's UI protocol: text, reasoning, tools, questions and approvals of
 * one message.
 *
 * I1  Everything is read as the page takes it; a page that goes away ends the stream, not the run.
 * I2  One query at a time, as `follow-run.ts` says.
 */
import type { AgentEvent } from '../core/contract/events.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { followRun, type FollowedRun, type RunUpdate } from '../client/follow-run.ts';
import type { RunHandle } from '../client/run-handle.ts';
import { createUIWriter, type UIWriter } from './ui-writer.ts';
import type { UIChunk } from './ui-chunk.ts';

/** The part of a `RunHandle` that {@link toUIMessageStream} uses. */
export type StreamedHandle = Pick<
  RunHandle,
  'id' | 'status' | 'pending' | 'result' | 'stream' | 'events' | 'transcript'
>;

/** Options of {@link toUIMessageStream}. */
export interface UIStreamOptions {
  /** Id of the message; default: the id of the run. */
  readonly messageId?: string;
  /**
   * `start` (default): the whole run, as for a message that begins it. `resume`: what has happened
   * since the last input or answer of the person, then what comes. A number: what has happened since
   * the event with this index.
   */
  readonly from?: 'start' | 'resume' | number;
  /** True: the page has the beginning of this message, with the calls that wait. Default false. */
  readonly continues?: boolean;
  /**
   * False: only the answer is shown, not the text of replies. For agents whose replies have sections
   * or calls in their text. Default true.
   */
  readonly text?: boolean;
  /** Abort it to end the stream; the run goes on. */
  readonly signal?: AbortSignal;
}

/**
 * The run as chunks of one message. The stream ends with the run, or when the run waits for nothing
 * but people. A failure of the run is an `error` chunk; the stream itself does not fail.
 *
 * @example
 * const run = await everloop.start('host', { task, stream: true });
 * return uiResponse(toUIMessageStream(run));
 */
export function toUIMessageStream(
  run: StreamedHandle,
  options: UIStreamOptions = {},
): ReadableStream<UIChunk> {
  const left = new AbortController();
  const { signal } = options;
  const stop = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const chunks = safely(readChunks(run, options, stop));
  return new ReadableStream<UIChunk>(
    {
      pull: async (controller) => {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => left.abort(),
    },
    { highWaterMark: 0 },
  );
}

/** A page that reads a broken stream gets a reason that it can show. */
async function* safely(
  chunks: AsyncGenerator<UIChunk, undefined>,
): AsyncGenerator<UIChunk, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    const errorText = isUsageError(error)
      ? error.message
      : 'Expected a stream of the run, got an error of the server. Reload to go on.';
    yield { type: 'error', errorText };
  }
}

/** How long nothing more comes before a message ends whose run waits for a person. */
const QUIET_MS = 200;

async function* readChunks(
  handle: StreamedHandle,
  { messageId = handle.id, from = 'start', continues = false, text = true }: UIStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<UIChunk, undefined> {
  const run = oneAtATime(handle);
  const all = from === 'start' ? [] : await run.events();
  const before = typeof from === 'number' ? all.slice(0, from) : all;
  const first = from === 'resume' ? lastSaid(before) : before.length;
  const afterIteration = placeOf(before, first, from);
  const knownCalls = continues ? callsOf(before) : [];
  const writer = createUIWriter({ messageId, afterIteration, knownCalls, showsText: text });
  yield* writer.begin();
  if (from === 'resume') yield* writer.replay(await run.transcript(), before.slice(first));
  const events = eventReader(run, before.length);
  const updates = followRun(run, { signal })[Symbol.asyncIterator]();
  try {
    let reading = updates.next();
    for (;;) {
      const next = writer.waitsForPerson() ? await within(reading, QUIET_MS) : await reading;
      if (next === null) {
        yield* writer.pause();
        return;
      }
      if (next.done === true) return;
      if (needsEvents(next.value, writer)) {
        for (const event of await events.read()) yield* writer.event(event);
      }
      yield* writer.update(next.value);
      reading = updates.next();
    }
  } finally {
    await updates.return?.();
  }
}

/** Index of the first event after what the person said last. */
function lastSaid(events: readonly AgentEvent[]): number {
  return events.findLastIndex(({ type }) => SAID.has(type)) + 1;
}

const SAID: ReadonlySet<string> = new Set(['agent:question:answered', 'agent:input']);

/** Ids of the calls that began or asked for approval. */
function callsOf(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'agent:tool_call:before' || event.type === 'agent:approval:requested'
      ? [event.callId]
      : [],
  );
}

/** The iteration whose text belongs to an earlier message. */
function placeOf(events: readonly AgentEvent[], first: number, from: unknown): number {
  const last = events[first - 1];
  if (last === undefined) return 0;
  // An input comes in the middle of an iteration, whose text goes on in the message after it.
  const isCut = from === 'resume' && last.type === 'agent:input';
  return isCut ? Math.max(0, last.iteration - 1) : last.iteration;
}

/** Whether tools may have been called since the events were read. */
function needsEvents(update: RunUpdate, writer: UIWriter): boolean {
  if (update.kind === 'status' || update.kind === 'step') return true;
  return 'iteration' in update && update.iteration > writer.iteration();
}

/** How long the events of a run may take, so that its text is not held back for longer. */
const EVENTS_MS = 2_000;

/** Reads the events from `index` on, each once. A failed read is repeated with the next. */
function eventReader(
  run: Pick<StreamedHandle, 'events'>,
  index: number,
): { readonly read: () => Promise<readonly AgentEvent[]> } {
  let from = index;
  return {
    read: async () => {
      const events = await within(
        run.events({ from }).catch(() => []),
        EVENTS_MS,
      );
      // Of reads that overlap, only the first one counts.
      const fresh = (events ?? []).filter(({ seq }) => seq > from);
      from += fresh.length;
      return fresh;
    },
  };
}

/** The handle whose queries wait for one another. */
function oneAtATime(run: StreamedHandle): FollowedRun & StreamedHandle {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(ask: () => Promise<Result>): Promise<Result> => {
    const result = last.then(ask, ask);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    id: run.id,
    status: () => inTurn(() => run.status()),
    pending: () => inTurn(() => run.pending()),
    events: (options) => inTurn(() => run.events(options)),
    transcript: (options) => inTurn(() => run.transcript(options)),
    result: () => run.result(),
    stream: () => run.stream(),
  };
}

/** The result of `work`, or null when it takes longer than `ms`. */
async function within<Result>(work: Promise<Result>, ms: number): Promise<Result | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
