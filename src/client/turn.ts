/**
 * One turn of a conversation, as the message knows it that began or reached it. It reads the run of
 * the conversation, and of that only the turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationView, SaidPlace, TurnRecord } from '../core/contract/conversation.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Json } from '../core/base/json.ts';
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import type { StatedActor } from '../core/contract/pending.ts';
import type { Step } from '../core/contract/step.ts';
import type { Chunk, ChunkMarker } from '../core/streaming/chunk.ts';
import { MESSAGE_REFUSED } from '../core/conversation/said.ts';
import { defined } from '../core/base/defined.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import { coded } from './connection/service-errors.ts';
import { endOfWait, waitOver, type ResultOptions } from './connection/through-outage.ts';
import { followRun, type FollowRunOptions, type RunUpdate } from './follow-run.ts';
import type { ReadOptions, RunHandle } from './run-handle.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import { leavable } from './streaming/run-stream.ts';

/** A turn of a conversation. `Value` is the type of its answer. */
export interface TurnHandle<Value = Json> {
  /** The run of the conversation. */
  readonly id: string;
  /** The message that began the turn, or that it has read. */
  readonly messageId: string;
  /**
   * Where the message went, once a worker has read it. `started`: it began the turn · `sent`: the
   * turn, which went on, has read it.
   */
  how(options?: ResultOptions): Promise<'started' | 'sent'>;
  /** The number of the turn, from 1, once a worker has read the message. */
  number(options?: ResultOptions): Promise<number>;
  /**
   * The Step of the turn, however it ended. Waits as `result` of a run does.
   *
   * @throws UsageError `wait_over`; `invalid_input` when the conversation refuses the message;
   * `run_ended` when it ends without reading it.
   */
  result(options?: ResultOptions): Promise<Step<Value>>;
  /** The Step of a turn that has ended, null while it is open. */
  step(): Promise<Step<Value> | null>;
  /** Text as it is written, what waits for a person, the status, and last the Step of the turn. */
  follow(options?: FollowRunOptions): AsyncIterable<RunUpdate<Value>>;
  /** Provisional text of the turn. Ends with it. */
  stream(): AsyncIterable<Chunk | ChunkMarker>;
  /** Ends the turn, not the conversation. */
  cancel(message?: string, options?: StatedActor): Promise<void>;
  /** The status of the conversation. */
  status(): Promise<RunStatus>;
  /** What waits for people or outside work in the turn and below it. */
  pending(): Promise<readonly PendingItem[]>;
  /** The events of the turn, numbered as those of the conversation. */
  events(options?: ReadOptions): Promise<readonly AgentEvent[]>;
  /**
   * The entries of the turn, numbered as those of the conversation; the first is its message. With
   * `from`, those of the conversation from there on, without a look at where the turn ends.
   */
  transcript(options?: ReadOptions): Promise<readonly Entry[]>;
  /** The iteration that is open, as `current` of a run. */
  current(): Promise<CurrentIteration | null>;
  /** The handle of a run below, as `child` of a run. */
  child(path: string): Promise<RunHandle>;
}

/** What a turn reads. */
export interface TurnSource {
  /** The run of the conversation. */
  readonly run: RunHandle;
  /** Asks a worker where a message went. */
  readonly place: (messageId: string) => Promise<SaidPlace>;
  /** Sends the cancel of turn `number`. */
  readonly cancelTurn: (number: number, message?: string, options?: StatedActor) => Promise<void>;
}

/** Where a turn is among the events of its conversation. */
export type TurnPlace = Pick<TurnRecord, 'number' | 'seq' | 'iteration' | 'messageId'>;

/** The turn that message `messageId` began or reached. */
export function createTurn(source: TurnSource, messageId: string): TurnHandle {
  const { run } = source;
  let found: Promise<TurnPlace> | undefined;
  const placeOf = (over?: AbortSignal): Promise<TurnPlace> => {
    if (over !== undefined && found === undefined) {
      // Only a search that nobody gives up is kept.
      const place = findTurn(source, messageId, over);
      return place.then((known) => ((found ??= Promise.resolve(known)), known));
    }
    found ??= findTurn(source, messageId);
    found.catch(() => (found = undefined));
    return found;
  };
  const result = async (wait: ResultOptions = {}): Promise<Step> => {
    const over = endOfWait(wait);
    try {
      return await stepOf(run, await placeOf(over), over);
    } catch (error) {
      // The first message may have failed before the conversation began: that is how its turn ended.
      const step = isUsageError(error) && error.code === 'run_ended' ? await run.step() : null;
      if (step === null || step.trace.chain.events > 0) throw error;
      return step;
    }
  };
  const turn: TurnHandle = {
    id: run.id,
    messageId,
    how: async (wait = {}) =>
      (await placeOf(endOfWait(wait))).messageId === messageId ? 'started' : 'sent',
    number: async (wait = {}) => (await placeOf(endOfWait(wait))).number,
    result,
    step: async () => (await endOf(run, await placeOf()))?.step ?? null,
    follow: (options) => followRun(turn, options),
    stream: () => leavable((left) => readStream(run, placeOf, result, left)),
    cancel: async (message, options) => {
      const { number } = await placeOf();
      await source.cancelTurn(number, message, options);
    },
    status: () => run.status(),
    pending: () => run.pending(),
    events: async ({ from = 0, limit } = {}) => {
      const events = await eventsOf(run, await placeOf(), from);
      return limit === undefined ? events : events.slice(0, limit);
    },
    transcript: async ({ from, limit } = {}) =>
      from === undefined
        ? (await entriesOf(run, await eventsOf(run, await placeOf()))).slice(0, limit)
        : run.transcript({ from, ...defined({ limit }) }),
    current: () => run.current(),
    child: (path) => run.child(path),
  };
  return coded(turn);
}

/** The place of a message; waits until a worker has read it. */
async function findTurn(
  { run, place }: TurnSource,
  messageId: string,
  signal?: AbortSignal,
): Promise<TurnPlace> {
  const before = await patiently(() => run.status(), signal);
  const listed = inView(before.conversation, messageId);
  if (listed !== undefined) return listed;
  const isLive = before.state !== 'ended';
  const asked = isLive ? await place(messageId).catch(noWorkerAsNothing) : undefined;
  if (asked?.turn !== undefined) return asked.turn;
  // What the run says that it knows may have been read so long ago that only the events know it.
  const known =
    asked?.isKnown === false
      ? undefined
      : placeIn(await patiently(() => run.events(), signal), messageId);
  if (known !== undefined) return known;
  const told = isLive
    ? await toldPlace(run, { messageId, from: before.events }, signal)
    : undefined;
  if (told !== undefined) return told;
  throw new UsageError(
    'run_ended',
    `Expected conversation \`${run.id}\` to have message \`${messageId}\`, got one that ended without reading it. Say it again.`,
  );
}

function inView(view: ConversationView | undefined, messageId: string): TurnPlace | undefined {
  return view?.recent.findLast(
    (turn) => turn.messageId === messageId || turn.inputs?.includes(messageId),
  );
}

function noWorkerAsNothing(error: unknown): undefined {
  if (isUsageError(error)) return undefined;
  throw error;
}

const PAUSE_MS = 1_000;

/** What `ask` gives, asked again while neither a worker nor the service answers. */
async function patiently<Result>(
  ask: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (;;) {
    goOn(signal);
    try {
      return await ask();
    } catch (error) {
      const isPassing = isUsageError(error) && PASSING.has(error.code);
      if (!isPassing) throw error;
    }
    await sleep(PAUSE_MS, undefined, signal && { signal }).catch(() => undefined);
  }
}

/** @throws UsageError `wait_over` once the owner has stopped waiting. */
function goOn(over: AbortSignal | undefined): void {
  if (over?.aborted === true) throw waitOver(over.reason);
}

const PASSING: ReadonlySet<string> = new Set(['no_worker', 'service_unavailable']);

/** The place that an event tells, from event `from` on; undefined if the run ends first. */
async function toldPlace(
  run: RunHandle,
  { messageId, from }: { readonly messageId: string; readonly from: number },
  signal: AbortSignal | undefined,
): Promise<TurnPlace | undefined> {
  const turns = createPlaces(messageId);
  const options = signal === undefined ? { from } : { from, signal };
  for await (const event of run.followEvents(options)) {
    const found = turns(event);
    if (found === 'sent') return placeIn(await run.events(), messageId);
    if (found !== undefined) return found;
  }
  goOn(signal);
  return undefined;
}

/** Reads events in order; gives the turn of the message with the event that tells it. */
function createPlaces(messageId: string): (event: AgentEvent) => TurnPlace | 'sent' | undefined {
  let open: TurnPlace | undefined;
  return (event) => {
    if (event.type === 'agent:turn:before') {
      const { turn: number, seq, iteration, messageId: began } = event;
      open = { number, seq, iteration, messageId: began };
      return began === messageId ? open : undefined;
    }
    if (event.type === 'agent:input' && event.inputId === messageId) return open ?? 'sent';
    if (event.type === 'agent:warning' && event.code === MESSAGE_REFUSED) {
      const start = `${messageId}: `;
      if (event.message.startsWith(start)) {
        throw new UsageError('invalid_input', event.message.slice(start.length));
      }
    }
    return undefined;
  };
}

function placeIn(events: readonly AgentEvent[], messageId: string): TurnPlace | undefined {
  const placeOf = createPlaces(messageId);
  for (const event of events) {
    const place = placeOf(event);
    if (place !== undefined && place !== 'sent') return place;
  }
  return undefined;
}

/** The event that ended the turn; undefined while it is open. */
async function endOf(
  run: RunHandle,
  place: TurnPlace,
): Promise<Extract<AgentEvent, { readonly type: 'agent:turn:after' }> | undefined> {
  return (await eventsOf(run, place)).find((event) => event.type === 'agent:turn:after');
}

const PAGE_EVENTS = 500;

/** The events of the turn so far, after the one with number `after`. */
async function eventsOf(
  run: RunHandle,
  { seq, number }: TurnPlace,
  after = 0,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let from = Math.max(seq - 1, after); ; from += PAGE_EVENTS) {
    const page = await run.events({ from, limit: PAGE_EVENTS });
    const end = page.findIndex((event) => isEndOf(event, number));
    events.push(...(end === -1 ? page : page.slice(0, end + 1)));
    if (end !== -1 || page.length < PAGE_EVENTS) return events.filter(isOf(number));
  }
}

/** Whether turn `number` has no events after this one. */
function isEndOf(event: AgentEvent, number: number): boolean {
  if (event.type === 'agent:turn:before') return event.turn !== number;
  return event.type === 'agent:turn:after' && event.turn === number;
}

function isOf(number: number): (event: AgentEvent) => boolean {
  return (event) => event.type !== 'agent:turn:before' || event.turn === number;
}

async function entriesOf(run: RunHandle, events: readonly AgentEvent[]): Promise<readonly Entry[]> {
  const indexes = events.flatMap((event) =>
    event.type === 'agent:iteration_history:change' ? [event.index] : [],
  );
  const [first] = indexes;
  return first === undefined ? [] : run.transcript({ from: first, limit: indexes.length });
}

/** Waits for the end of the turn. */
async function stepOf(
  run: RunHandle,
  { number, seq }: TurnPlace,
  over: AbortSignal | undefined,
): Promise<Step> {
  const options = over === undefined ? { from: seq - 1 } : { from: seq - 1, signal: over };
  for await (const event of run.followEvents(options)) {
    if (event.type === 'agent:turn:after' && event.turn === number) return event.step;
  }
  goOn(over);
  // An execution that was ended by force leaves its turn open.
  return run.result();
}

/** The text of the turn: that of earlier ones is left out. */
async function* readStream(
  run: RunHandle,
  placeOf: () => Promise<TurnPlace>,
  result: (wait: ResultOptions) => Promise<Step>,
  left: AbortSignal,
): AsyncGenerator<Chunk | ChunkMarker, undefined> {
  const items = run.stream()[Symbol.asyncIterator]();
  const leave = (): void => void items.return?.();
  left.addEventListener('abort', leave, { once: true });
  // The stream is open before anything is asked.
  let next = items.next();
  next.catch(() => undefined);
  const over = new AbortController();
  const ended = lateEnd(result({ signal: AbortSignal.any([left, over.signal]) }));
  try {
    const { iteration } = await placeOf();
    for (;;) {
      const item = await Promise.race([next, ended]);
      if (item === 'over' || item.done === true) return;
      if (item.value.iteration > iteration) yield item.value;
      next = items.next();
    }
  } finally {
    over.abort();
    leave();
  }
}

/** How long text may come after the end of a turn. */
const LATE_MS = 150;

async function lateEnd(result: Promise<unknown>): Promise<'over'> {
  await result.catch(() => undefined);
  await sleep(LATE_MS);
  return 'over';
}
