/**
 * The protocol for provisional text and events between processes: server-sent events over HTTP, so
 * that `curl` and a browser can read them too. This file is pure. `worker/streaming/chunk-endpoint.ts` serves
 * the stream, and `client/streaming/follow-chunks.ts` reads it.
 *
 * A reader sends `GET /chunks?runId=…&rootRunId=…` with `Authorization: Bearer TOKEN` and gets
 * - `event: hello` once, first: `{ v, instance }`. `instance` identifies the process. If a reader
 *   sees the same one again after a broken connection, it gets again what it may have missed; a
 *   different one means that the worker restarted;
 * - one unnamed event for each chunk or marker, as JSON in `data`, in the order of publication. First
 *   come the replies that the process keeps, many pieces in one chunk (`lengths`);
 * - a comment every {@link PING_MS}, which tells a silent model from a dead worker;
 * - `event: end` when the worker stops.
 *
 * With `&events=1` it also gets the events of the runs, with `&events=only` these alone. `hello` then
 * has `events: true`.
 * - `event: event`: `{ rootRunId, event }`, an event as it is recorded, at least once;
 * - `event: feed`: `{ feed }`, after which some events may be missing: read them from the run.
 */
import { isPlainObject } from '../base/json.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { Chunk, ChunkMarker, FeedMark, LiveItem, PushedEvent } from './chunk.ts';

/** Version of the protocol. A reader ignores endpoints of another version. */
export const WIRE_VERSION = 1;

/** Path of an endpoint. */
export const WIRE_PATH = '/chunks';

/** How often an endpoint shows that it is alive. */
export const PING_MS = 5_000;

/** Upper bound of one event. No reply exceeds a mebibyte, so more than this is not our stream. */
export const MAX_WIRE_EVENT_CHARACTERS = 8_388_608;

/** One server-sent event. */
export interface WireEvent {
  readonly event?: string;
  readonly data: string;
}

/** The last event. */
export const END_EVENT: WireEvent = { event: 'end', data: '{}' };

/** The values of the parameter `events` of a request. */
export const EVENTS_PARAMETER = ['1', 'only'] as const;

/** The first event of a stream; `events`: it has those of runs. */
export function helloEvent(instance: string, events: boolean = false): WireEvent {
  return { event: 'hello', data: JSON.stringify({ v: WIRE_VERSION, instance, events }) };
}

/** An item as an event. JSON has no raw line break, so the data is one line. */
export function itemEvent(item: LiveItem): WireEvent {
  if (item.kind !== 'event' && item.kind !== 'feed') return { data: JSON.stringify(item) };
  const { kind, ...rest } = item;
  return { event: kind, data: JSON.stringify(rest) };
}

/** A server-sent event as it is sent. */
export function wireText({ event, data }: WireEvent): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/** The meaning of one event. */
export type WireMessage =
  | {
      readonly kind: 'hello';
      readonly v: number;
      readonly instance: string;
      /** Whether the worker sends the events of runs on this stream. */
      readonly events: boolean;
    }
  | { readonly kind: 'item'; readonly item: Chunk | ChunkMarker }
  | PushedEvent
  | FeedMark
  | { readonly kind: 'end' }
  /** Not a stream of ours: disconnect. */
  | { readonly kind: 'broken' };

/** Reads one event. Never throws; undefined for events that this version does not know. */
export function readWireEvent({
  event,
  data,
}: {
  readonly event?: string | undefined;
  readonly data: string;
}): WireMessage | undefined {
  if (event === 'end') return { kind: 'end' };
  const value = readData(data);
  if (event === 'hello') return helloOf(value);
  if (event === 'event') return eventOf(value);
  if (event === 'feed') return feedOf(value);
  return event === undefined && isItem(value) ? { kind: 'item', item: value } : undefined;
}

function eventOf(value: unknown): PushedEvent | undefined {
  if (!isPlainObject(value)) return undefined;
  const { rootRunId, event } = value;
  if (typeof rootRunId !== 'string' || !isPlainObject(event)) return undefined;
  const isEvent =
    Number.isSafeInteger(event['seq']) &&
    ['runId', 'type', 'agent', 'agentPath'].every((name) => typeof event[name] === 'string') &&
    ['at', 'iteration', 'depth'].every((name) => typeof event[name] === 'number');
  return isEvent ? { kind: 'event', rootRunId, event: event as unknown as AgentEvent } : undefined;
}

function feedOf(value: unknown): FeedMark | undefined {
  const feed = isPlainObject(value) ? value['feed'] : undefined;
  return feed === 'pushed' || feed === 'polled' ? { kind: 'feed', feed } : undefined;
}

function readData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Truncated, or not ours. The reader loses one chunk.
    return undefined;
  }
}

function helloOf(value: unknown): WireMessage {
  if (!isPlainObject(value)) return { kind: 'broken' };
  const { v, instance, events } = value;
  return typeof v === 'number' && typeof instance === 'string'
    ? { kind: 'hello', v, instance, events: events === true }
    : { kind: 'broken' };
}

const CHUNK_KINDS: readonly unknown[] = ['text', 'reasoning', 'tool_args', 'topic'];
const MARKER_KINDS: readonly unknown[] = ['restart', 'end', 'error', 'gap', 'not_streamed'];

function isItem(value: unknown): value is Chunk | ChunkMarker {
  if (!isPlainObject(value)) return false;
  const { kind, delta, lengths } = value;
  return (
    ['rootRunId', 'runId', 'agentPath'].every((name) => typeof value[name] === 'string') &&
    ['iteration', 'attempt', 'seq'].every((name) => Number.isSafeInteger(value[name])) &&
    (lengths === undefined || areLengths(lengths)) &&
    (kind !== 'topic' || typeof value['topic'] === 'string') &&
    (CHUNK_KINDS.includes(kind) ? typeof delta === 'string' : MARKER_KINDS.includes(kind))
  );
}

function areLengths(value: unknown): boolean {
  return Array.isArray(value) && value.every((length) => Number.isSafeInteger(length));
}
