/**
 * The protocol for provisional text between processes: server-sent events over HTTP, so that `curl`
 * and a browser can read them too. This file is pure. `worker/streaming/chunk-endpoint.ts` serves
 * the stream, and `client/follow-chunks.ts` reads it.
 *
 * A reader sends `GET /chunks?runId=…&rootRunId=…` with `Authorization: Bearer TOKEN` and gets
 * - `event: hello` once, first: `{ v, instance }`. `instance` identifies the process. If a reader
 *   sees the same one again after a broken connection, it gets again what it may have missed; a
 *   different one means that the worker restarted;
 * - one unnamed event for each chunk or marker, as JSON in `data`, in the order of publication. First
 *   come the replies that the process keeps, many pieces in one chunk (`lengths`);
 * - a comment every {@link PING_MS}, which tells a silent model from a dead worker;
 * - `event: end` when the worker stops.
 */
import { isPlainObject } from '../base/json.ts';
import type { Chunk, ChunkMarker } from './chunk.ts';

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

/** The first event of a stream. */
export function helloEvent(instance: string): WireEvent {
  return { event: 'hello', data: JSON.stringify({ v: WIRE_VERSION, instance }) };
}

/** A chunk or a marker as an event. JSON has no raw line break, so the data is one line. */
export function itemEvent(item: Chunk | ChunkMarker): WireEvent {
  return { data: JSON.stringify(item) };
}

/** The meaning of one event. */
export type WireMessage =
  | { readonly kind: 'hello'; readonly v: number; readonly instance: string }
  | { readonly kind: 'item'; readonly item: Chunk | ChunkMarker }
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
  return event === undefined && isItem(value) ? { kind: 'item', item: value } : undefined;
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
  const { v, instance } = value;
  return typeof v === 'number' && typeof instance === 'string'
    ? { kind: 'hello', v, instance }
    : { kind: 'broken' };
}

const CHUNK_KINDS: readonly unknown[] = ['text', 'reasoning', 'tool_args', 'topic'];
const MARKER_KINDS: readonly unknown[] = ['restart', 'end', 'error', 'gap'];

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
