/**
 * A run, or a turn of a conversation, as a stream of the AI SDK's UI protocol: text, reasoning, tools,
 * files, sources, questions and approvals of one message.
 *
 * I1  Everything is read as the page takes it; a page that goes away ends the stream, not the run.
 * I2  One query at a time, as `follow-run.ts` says.
 * I3  What has happened comes from the run itself; only text that is being written comes from a worker.
 */
import { defined } from '../core/base/defined.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import type { TurnHandle } from '../client/turn.ts';
import { followRun, type FollowedRun, type RunUpdate } from '../client/follow-run.ts';
import type { RunHandle } from '../client/run-handle.ts';
import { pause } from '../client/streaming/follow-chunks.ts';
import { endsReply, playEvents, untilSaid, type PlayedMaterial } from './play-events.ts';
import { replyId, saidWith } from './said.ts';
import type { UIChunk } from './ui-chunk.ts';
import { isForPage, isIdleBut } from './shown-parts.ts';
import type { KnownCalls } from './item-parts.ts';
import { createUIWriter, type UIWriter } from './ui-writer.ts';

/** The part of a `RunHandle` or of a `TurnHandle` that {@link toUIMessageStream} uses. */
export type StreamedHandle = Pick<
  RunHandle,
  'id' | 'status' | 'pending' | 'result' | 'stream' | 'events' | 'transcript' | 'current' | 'child'
> &
  Partial<Pick<TurnHandle, 'messageId' | 'number'>>;

/** Options of {@link toUIMessageStream}. */
export interface UIStreamOptions {
  /** Id of the message; default: that of the run, or one made of the message of the turn. */
  readonly messageId?: string;
  /**
   * False: only the answer is shown, not the text of replies. For agents whose replies have sections
   * or calls in their text. Default true.
   */
  readonly text?: boolean;
  /** Abort it to end the stream; the run goes on. */
  readonly signal?: AbortSignal;
}

/** Which part of a turn a message is. */
export interface StreamedPart {
  /**
   * The message of a person after which it begins; the calls whose approval the page has; or the
   * number of the last event before it.
   */
  readonly after: { readonly said: string } | { readonly calls: readonly string[] } | number;
  /** Calls that the page has in this message. */
  readonly known?: KnownCalls;
}

/**
 * The run, or the turn, as chunks of one message. The stream ends with it, or when it waits for nothing
 * but people; that of a turn also when a person says something more. A failure is an `error` chunk;
 * the stream itself does not fail.
 *
 * @example
 * const turn = await everloop.conversation('host', { id: 'guest-42' }).say(text);
 * return uiResponse(toUIMessageStream(turn));
 */
export function toUIMessageStream(
  run: StreamedHandle,
  options: UIStreamOptions = {},
): ReadableStream<UIChunk> {
  const { messageId } = run;
  const after = messageId === undefined ? 0 : { said: messageId };
  return streamPart(run, { after }, options);
}

/** A part of a turn as chunks of one message. */
export function streamPart(
  run: StreamedHandle,
  part: StreamedPart,
  { messageId, text = true, signal }: UIStreamOptions,
): ReadableStream<UIChunk> {
  const left = new AbortController();
  const stop = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const said = run.messageId;
  const id = messageId ?? (said === undefined ? run.id : replyId(said));
  const chunks = safely(readChunks(run, part, { messageId: id, showsText: text }, stop));
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

interface Shown {
  readonly messageId: string;
  readonly showsText: boolean;
}

async function* readChunks(
  handle: StreamedHandle,
  part: StreamedPart,
  shown: Shown,
  signal: AbortSignal,
): AsyncGenerator<UIChunk, undefined> {
  const run = oneAtATime(handle);
  const begun = await beginning(run, part, signal);
  if ('waiting' in begun) {
    const writer = createUIWriter({ ...shown, afterIteration: 0 });
    for (const item of begun.waiting) yield* writer.update({ kind: 'pending', item });
    yield* writer.pause('tool-calls');
    return;
  }
  const { before, events } = begun;
  const afterIteration = before?.iteration ?? 0;
  const writer = createUIWriter({ ...shown, afterIteration, ...defined({ known: part.known }) });
  const reader = eventReader(run, events.at(-1)?.seq ?? before?.seq ?? 0);
  const take = async function* (fresh: readonly AgentEvent[]): AsyncGenerator<UIChunk, boolean> {
    yield* await playedBelow(run, writer);
    const played = await withMaterial(run, fresh, { ...reader, showsText: shown.showsText });
    yield* playEvents(writer, played.events, played.material);
    const isEnded = played.events.at(-1)?.type === 'agent:turn:after';
    if (played.isCut) yield* writer.pause('other');
    return isEnded || played.isCut;
  };
  if (yield* take(events)) return;
  const updates = followRun(run, { signal })[Symbol.asyncIterator]();
  try {
    let reading = updates.next();
    for (;;) {
      const next = writer.waitsForPerson() ? await within(reading, QUIET_MS) : await reading;
      if (next === null) {
        // A page that goes on after it relies on all that came before.
        if (yield* take(await reader.read())) return;
        if (reader.isBehind()) continue;
        yield* writer.pause('tool-calls');
        return;
      }
      if (next.done === true) return;
      // What waits comes after the text that asked for it.
      let left = next.value.kind === 'pending' ? TRIES : 1;
      while (left > 0 && (reader.isBehind() || needsEvents(next.value, writer))) {
        if (yield* take(await reader.read())) return;
        left = reader.isBehind() ? left - 1 : 0;
        if (left > 0) await pause(LOOK_MS, signal);
      }
      yield* writer.update(next.value);
      reading = updates.next();
    }
  } finally {
    await updates.return?.();
  }
}

/** Where a message begins: the event before it, and what has happened since. */
interface Begun {
  readonly before: AgentEvent | undefined;
  readonly events: readonly AgentEvent[];
}

/** How often a message is looked for that the run has not read. */
const LOOK_MS = 250;

/** Waits until the message of a person has been read, or something else waits for the person. */
async function beginning(
  run: StreamedHandle,
  { after }: StreamedPart,
  signal: AbortSignal,
): Promise<Begun | { readonly waiting: readonly PendingItem[] }> {
  const placed = run.number?.({ signal });
  placed?.catch(() => undefined);
  for (;;) {
    signal.throwIfAborted();
    const hasPlace = placed === undefined || (await within(placed, LOOK_MS)) !== null;
    const events = hasPlace ? await run.events() : [];
    const first = firstOf(events, after);
    if (first !== undefined) return { before: events[first - 1], events: events.slice(first) };
    // It is a part of an earlier turn, of which the page has all.
    if (events.at(-1)?.type === 'agent:turn:after') return { waiting: [] };
    const waiting = await askedOfPeople(run);
    if (waiting.length > 0) return { waiting };
    if (hasPlace) await pause(LOOK_MS, signal);
  }
}

/** The index of the first event of a message; undefined: it has not begun. */
function firstOf(events: readonly AgentEvent[], after: StreamedPart['after']): number | undefined {
  if (typeof after === 'number') {
    const first = events.findIndex(({ seq }) => seq > after);
    return first === -1 ? events.length : first;
  }
  const isBefore = (event: AgentEvent): boolean =>
    'said' in after
      ? saidWith(event) === after.said
      : 'callId' in event && BEGINS_CALL.has(event.type) && after.calls.some(isOf(event.callId));
  const before = events.findIndex(isBefore);
  return before === -1 ? undefined : before + 1;
}

/** The events after which a page can have an approval of the call, or of one in a run below it. */
const BEGINS_CALL: ReadonlySet<string> = new Set([
  'agent:approval:requested',
  'agent:tool_call:before',
]);

function isOf(callId: string | undefined): (id: string) => boolean {
  return (id) => id === callId || id.startsWith(`${callId}/`);
}

/** What waits for people before the message can be read. */
async function askedOfPeople(run: StreamedHandle): Promise<readonly PendingItem[]> {
  try {
    const status = await run.status();
    const items = (await run.pending()).filter(isForPage);
    return isIdleBut(status, items) ? items : [];
  } catch (error) {
    if (isUsageError(error)) return [];
    throw error;
  }
}

interface Played {
  readonly events: readonly AgentEvent[];
  /** A person says something after them, which belongs to another message. */
  readonly isCut: boolean;
  readonly material: PlayedMaterial;
}

/**
 * Events of one message, and what is played with them. If the iteration of the last reply ends
 * meanwhile, its text is in an entry that only further events name.
 */
async function withMaterial(
  run: StreamedHandle,
  fresh: readonly AgentEvent[],
  { read, showsText }: Pick<EventReader, 'read'> & Pick<Shown, 'showsText'>,
): Promise<Played> {
  const own = run.messageId === undefined ? fresh : untilSaid(fresh);
  const isCut = own.length < fresh.length;
  const indexes = own.flatMap((event) =>
    event.type === 'agent:iteration_history:change' ? [event.index] : [],
  );
  const [from] = indexes;
  const entries: readonly Entry[] =
    from === undefined
      ? []
      : ((await patiently(() => run.transcript({ from, limit: indexes.length }))) ?? []);
  const iteration = own.findLast(endsReply)?.iteration;
  const isKnown = entries.some((entry) => entry.iteration === iteration);
  const played = { events: own, isCut, material: { entries } };
  if (!showsText || iteration === undefined || isKnown || isCut) return played;
  const current = await patiently(() => run.current());
  if (current?.iteration === iteration && current.reply !== null) {
    const texts = current.reply.parts.map(({ type, text }) => ({ type, text }));
    return { ...played, material: { entries, current: { iteration, texts } } };
  }
  const more = await read();
  return more.length === 0 ? played : withMaterial(run, [...own, ...more], { read, showsText });
}

/** How often a query is tried whose answer belongs to what is played. */
const TRIES = 5;

/** What `ask` gives; null: it failed again and again. */
async function patiently<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  for (let left = TRIES; left > 0; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isUsageError(error)) throw error;
    }
  }
  return null;
}

/** What became of calls of runs below that people have decided about. */
async function playedBelow(run: StreamedHandle, writer: UIWriter): Promise<readonly UIChunk[]> {
  const chunks: UIChunk[] = [];
  for (const id of writer.decidedBelow()) {
    const at = id.lastIndexOf('/');
    const child = await run.child(id.slice(0, at)).catch(() => null);
    const events = (await child?.events().catch(() => null)) ?? [];
    const end = events.find(
      (event) => event.type === 'agent:tool_call:after' && event.callId === id.slice(at + 1),
    );
    if (end?.type === 'agent:tool_call:after') chunks.push(...writer.below(id, end));
  }
  return chunks;
}

/** Whether more may have happened since the events were read. */
function needsEvents(update: RunUpdate, writer: UIWriter): boolean {
  if (update.kind === 'status' || update.kind === 'step') return true;
  return 'iteration' in update && update.iteration > writer.iteration();
}

/** How long the events of a run may take, so that its text is not held back for longer. */
const EVENTS_MS = 2_000;

interface EventReader {
  readonly read: () => Promise<readonly AgentEvent[]>;
  /** Whether the last read failed, or took too long. */
  readonly isBehind: () => boolean;
}

/** Reads the events after the one with number `seq`, each once. A failed read is repeated with the next. */
function eventReader(run: Pick<StreamedHandle, 'events'>, seq: number): EventReader {
  let from = seq;
  let isBehind = false;
  return {
    isBehind: () => isBehind,
    read: async () => {
      const events = await within(
        run.events({ from }).catch(() => null),
        EVENTS_MS,
      );
      isBehind = events === null;
      // Of reads that overlap, only the first one counts.
      const fresh = (events ?? []).filter((event) => event.seq > from);
      from = fresh.at(-1)?.seq ?? from;
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
  const { id, messageId, number } = run;
  return {
    id,
    ...defined({ messageId, number }),
    result: (options) => run.result(options),
    stream: () => run.stream(),
    child: (path) => run.child(path),
    status: () => inTurn(() => run.status()),
    pending: () => inTurn(() => run.pending()),
    events: (options) => inTurn(() => run.events(options)),
    transcript: (options) => inTurn(() => run.transcript(options)),
    current: () => inTurn(() => run.current()),
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
