/**
 * How provisional text travels between processes: server-sent events over HTTP, so that `curl` and a
 * browser read them too. Pure; the endpoint is `worker/chunk-endpoint.ts`, the reader
 * `client/follow-chunks.ts`.
 *
 * `GET /chunks?runId=…&rootRunId=…` with `Authorization: Bearer TOKEN` is answered by
 * - `event: hello`, first and once: `{ v, instance }`. `instance` names the process: the same one
 *   after a broken connection means that pieces may have been missed, another one a restart;
 * - a piece or a marker as JSON in `data`, without a name of its own, in the order of publication;
 * - a comment every {@link PING_MS}, so that a reader knows a silent model from a dead worker;
 * - `event: end` when the worker has nothing more to say: it stops.
 */
import { isPlainObject } from '../base/json.ts';
import type { Chunk, ChunkMarker } from './chunk.ts';

/** Version of the protocol; a reader leaves an endpoint of another one alone. */
export const WIRE_VERSION = 1;

/** Path of an endpoint. */
export const WIRE_PATH = '/chunks';

/** How often an endpoint says that it is there. */
export const PING_MS = 5_000;

/** No reply is larger than a mebibyte; more characters without a break are no frame of ours. */
export const MAX_FRAME_CHARACTERS = 8_388_608;

/** A comment, which readers skip. */
export const PING_FRAME = ': ping\n\n';

/** The last frame. */
export const END_FRAME = 'event: end\ndata: {}\n\n';

/** The first frame of a stream. */
export function helloFrame(instance: string): string {
  return `event: hello\ndata: ${JSON.stringify({ v: WIRE_VERSION, instance })}\n\n`;
}

/** A piece or a marker as a frame. JSON has no raw line break, so it is one line. */
export function itemFrame(item: Chunk | ChunkMarker): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

/** What a stream says. */
export type Frame =
  | { readonly kind: 'hello'; readonly v: number; readonly instance: string }
  | { readonly kind: 'item'; readonly item: Chunk | ChunkMarker }
  | { readonly kind: 'end' }
  /** What comes is no stream of ours: leave it. */
  | { readonly kind: 'broken' };

/**
 * Reads a stream that comes in pieces cut anywhere. Never throws, and is linear; frames of a later
 * version that it does not know are skipped.
 */
export function createFrameReader(): (text: string) => readonly Frame[] {
  let rest = '';
  let isBroken = false;
  return (text) => {
    if (isBroken) return [];
    // The border may lie between two pieces, one character of it in each.
    let searched = Math.max(0, rest.length - 1);
    rest += text;
    const frames: Frame[] = [];
    for (let start = 0; ;) {
      const end = rest.indexOf('\n\n', Math.max(start, searched));
      if (end < 0) {
        rest = rest.slice(start);
        break;
      }
      frames.push(...frameOf(rest.slice(start, end)));
      start = end + 2;
      searched = start;
    }
    if (rest.length > MAX_FRAME_CHARACTERS) {
      isBroken = true;
      rest = '';
      frames.push({ kind: 'broken' });
    }
    return frames;
  };
}

function frameOf(text: string): readonly Frame[] {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    // A comment begins with its colon.
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const data = fields.get('data');
  if (data === undefined) return [];
  const name = fields.get('event');
  if (name === 'end') return [{ kind: 'end' }];
  const value = readData(data);
  if (name === 'hello') return helloOf(value);
  return name === undefined && isItem(value) ? [{ kind: 'item', item: value }] : [];
}

function readData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // A frame that is cut or foreign: one piece less.
    return undefined;
  }
}

function helloOf(value: unknown): readonly Frame[] {
  if (!isPlainObject(value)) return [{ kind: 'broken' }];
  const { v, instance } = value;
  return typeof v === 'number' && typeof instance === 'string'
    ? [{ kind: 'hello', v, instance }]
    : [{ kind: 'broken' }];
}

const CHUNK_KINDS: readonly unknown[] = ['text', 'reasoning', 'tool_args'];
const MARKER_KINDS: readonly unknown[] = ['restart', 'end', 'error', 'gap'];

function isItem(value: unknown): value is Chunk | ChunkMarker {
  if (!isPlainObject(value)) return false;
  const { kind, delta } = value;
  return (
    ['rootRunId', 'runId', 'agentPath'].every((name) => typeof value[name] === 'string') &&
    ['iteration', 'attempt', 'seq'].every((name) => Number.isSafeInteger(value[name])) &&
    (CHUNK_KINDS.includes(kind) ? typeof delta === 'string' : MARKER_KINDS.includes(kind))
  );
}
