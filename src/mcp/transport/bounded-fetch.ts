/**
 * `fetch` for a server of the streamable HTTP transport, whose answers are bounded.
 *
 * I1  A message that is too long or has too many values, and an answer without end, fail their request.
 * I2  A stream that ends without an answer is reported; the SDK would wait for the time-out.
 */
import { JsonValues } from '../../core/base/json-values.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES } from './message-lines.ts';
import { MESSAGES_AT_ONCE, othersTurn, Pace } from './pace.ts';

/** Bytes of all messages of one answer: progress, log lines and the result. */
const MAX_ANSWER_BYTES = 4 * MAX_MESSAGE_BYTES;

/** The answer to a call may still be read when its stream has ended. */
const READ_MS = 250;

/** Statuses of answers that have no body. */
const WITHOUT_BODY = [101, 204, 205, 304];

/** What {@link boundedFetch} reports. */
export interface FetchReports {
  /** A stream has ended that was opened for the request of this id, and cannot be resumed. */
  readonly onStreamEnd: (id: number) => void;
  /** The server asks for a wait of this many ms. */
  readonly onRetryAfter: (ms: number) => void;
}

/** The name of the error for an answer that is too long. */
export const TOO_LONG_ANSWER = 'McpAnswerTooLong';

/** Makes the `fetch` of one connection. */
export function boundedFetch(
  reports: FetchReports,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const pace = new Pace();
  return async (url, init) => {
    const response = await fetch(url, init);
    const { status, statusText, headers, body } = response;
    if (status === 429 || status === 503) reports.onRetryAfter(retryAfterMs(headers));
    if (body === null || WITHOUT_BODY.includes(status)) return response;
    const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
    const isPost = init?.method === 'POST';
    const id = isStream && isPost ? requestId(init.body) : undefined;
    const onEnd = (isResumable: boolean): void => {
      if (id !== undefined && !isResumable) setTimeout(() => reports.onStreamEnd(id), READ_MS);
    };
    // The stream of a server's own messages may be open for days.
    const maxTotal = isPost ? MAX_ANSWER_BYTES : Infinity;
    const bounded = body.pipeThrough(bounds({ pace, isStream, maxTotal, onEnd }));
    return new Response(bounded, { status, statusText, headers });
  };
}

interface Bounds {
  readonly pace: Pace;
  readonly isStream: boolean;
  readonly maxTotal: number;
  readonly onEnd: (isResumable: boolean) => void;
}

function bounds({ pace, isStream, maxTotal, onEnd }: Bounds): TransformStream<Uint8Array> {
  let total = 0;
  let sinceEvent = 0;
  let isResumable = false;
  // A message in a stream may have a line for each byte.
  const values = new JsonValues(isStream);
  let last: Buffer = Buffer.alloc(0);
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: async (bytes, controller) => {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      total += chunk.length;
      // What ends an event, or names its id, may lie across two chunks.
      const whole = isStream ? Buffer.concat([last, chunk]) : chunk;
      const isEnd = isStream && EVENT_ENDS.some((end) => whole.includes(end));
      sinceEvent = isEnd ? chunk.length : sinceEvent + chunk.length;
      isResumable ||=
        isStream && (LINE_ID.some((id) => whole.includes(id)) || isIdFirst(whole, total));
      last = whole.subarray(-LAST_BYTES);
      if (isEnd) values.reset();
      values.add(chunk);
      const isTooLong = total > maxTotal || sinceEvent > MAX_MESSAGE_BYTES;
      if (isTooLong || values.count > MAX_MESSAGE_VALUES) {
        onEnd(false);
        throw Object.assign(new Error('the answer is too long'), { name: TOO_LONG_ANSWER });
      }
      const messages = isStream ? messagesIn(chunk) : 0;
      const waitMs = pace.count(messages, chunk.length);
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      // Parts of it, so that others have their turn between a few messages.
      const parts = Math.ceil(messages / MESSAGES_AT_ONCE) || 1;
      const size = Math.ceil(chunk.length / parts);
      for (let from = 0; from < chunk.length; from += size) {
        if (from > 0) await othersTurn();
        controller.enqueue(bytes.subarray(from, from + size));
      }
    },
    flush: () => onEnd(isResumable),
  });
}

/** What ends an event: two line ends of the three kinds. */
const EVENT_ENDS = ['\n\n', '\r\r', '\r\n\r\n'];

/** How the line of an id begins, after another line. */
const LINE_ID = ['\nid:', '\rid:'];

/** Bytes at the end of a chunk that may begin one of these. */
const LAST_BYTES = 3;

/** Whether the stream begins with an id. `total`: the bytes of it so far. */
function isIdFirst(whole: Buffer, total: number): boolean {
  return total === whole.length && whole.subarray(0, 3).toString('latin1') === 'id:';
}

/**
 * The events of a chunk of a stream, at least: each has two line ends. A server may end lines in
 * any of three ways, and cut its chunks anywhere.
 */
function messagesIn(chunk: Buffer): number {
  return Math.ceil((countOf(chunk, 10) + countOf(chunk, 13)) / 2);
}

function countOf(chunk: Buffer, byte: number): number {
  let count = 0;
  for (let at = chunk.indexOf(byte); at !== -1; at = chunk.indexOf(byte, at + 1)) count++;
  return count;
}

/** The id of the one request in `body`. */
function requestId(body: unknown): number | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const { id } = JSON.parse(body) as { readonly id?: unknown };
    return typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Waits that a server may ask for. */
const MAX_WAIT_MS = 60_000;

/** What `Retry-After` says: seconds, or a date. Default a second. */
function retryAfterMs(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 100), MAX_WAIT_MS) : 1_000;
}
