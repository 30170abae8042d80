/**
 * Measures what the reader of a body holds until it can parse it: a whole reply, or the open event of a
 * stream. Throws when that is too much.
 */
import { JsonValues } from '../../core/base/json-values.ts';
import {
  MAX_MESSAGE_BYTES,
  MAX_MESSAGE_VALUES,
  MAX_STREAM_BYTES,
  MAX_STREAM_LINES,
  unboundedReply,
} from './reply-bounds.ts';

/** Measures the bytes of one body, as they come. */
export interface MessageMeter {
  /** Takes the next bytes; throws when a bound is crossed. */
  readonly add: (bytes: Uint8Array) => void;
}

/** Measures a body that is one message. */
export function wholeMeter(): MessageMeter {
  const values = new JsonValues();
  let bytes = 0;
  return {
    add: (more) => {
      bytes += more.length;
      values.add(more);
      check('a reply', bytes, values.count);
    },
  };
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** How a line begins that a reader keeps until the event ends: `data`, or the mark of UTF-8. */
const KEPT: readonly (number | undefined)[] = [100, 0xef];

/**
 * Measures a stream of events. Lines may end in any of three ways. A reader keeps a line until it ends,
 * and lines of data until an empty one. Lines that are no field of an event, such as those of
 * newline-delimited JSON, are done with their end. `onDone`: called when OpenAI's last event comes.
 */
export function eventMeter(onDone: () => void = () => undefined): MessageMeter {
  const mark = doneMark(onDone);
  const values = new JsonValues(true);
  let total = 0;
  let lines = 0;
  /** Of the lines of data before the open line. */
  let held = 0;
  let line = 0;
  let isKept = false;
  let last: number | undefined;
  const addToLine = (part: Uint8Array): void => {
    if (part.length === 0) return;
    if (line === 0) isKept = KEPT.includes(part[0]);
    mark.add(part, line);
    line += part.length;
    values.add(part);
    check('an event', held + line, values.count);
  };
  const endLine = (end: number): void => {
    // The second half of one line end.
    if (end === LINE_FEED && last === CARRIAGE_RETURN) return;
    lines += 1;
    if (lines > MAX_STREAM_LINES) throw tooLong(`a stream of at most ${MAX_STREAM_LINES} lines`);
    values.add(LINE_END);
    if (line === 0 || (!isKept && held === 0)) {
      held = 0;
      values.reset();
    } else if (isKept) held += line;
    line = 0;
  };
  return {
    add: (bytes) => {
      total += bytes.length;
      if (total > MAX_STREAM_BYTES) throw tooLong(`a stream of at most ${MAX_STREAM_BYTES} bytes`);
      let from = 0;
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at] as number;
        if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
          addToLine(bytes.subarray(from, at));
          endLine(byte);
          from = at + 1;
        }
        last = byte;
      }
      addToLine(bytes.subarray(from));
    },
  };
}

/** How the last event of OpenAI's protocol is written; the space may be left out. */
const DONE_LINES: readonly string[] = ['data: [DONE]', 'data:[DONE]'];
const LONGEST_DONE = 12;

/** Looks at how each line begins. */
function doneMark(onDone: () => void): {
  readonly add: (part: Uint8Array, before: number) => void;
} {
  let head = '';
  return {
    add: (part, before) => {
      if (before === 0) head = '';
      if (head.length !== before || before >= LONGEST_DONE) return;
      head += String.fromCharCode(...part.subarray(0, LONGEST_DONE - before));
      if (DONE_LINES.includes(head)) onDone();
    },
  };
}

const LINE_END = Uint8Array.of(LINE_FEED);

/** Bytes of the length with which a frame begins. */
const LENGTH_BYTES = 4;

/** Measures a stream of frames, each of which begins with its length (`application/vnd.amazon.eventstream`). */
export function frameMeter(): MessageMeter {
  const values = new JsonValues();
  let total = 0;
  let read = 0;
  let length = 0;
  return {
    add: (bytes) => {
      total += bytes.length;
      if (total > MAX_STREAM_BYTES) throw tooLong(`a stream of at most ${MAX_STREAM_BYTES} bytes`);
      for (let at = 0; at < bytes.length;) {
        if (read < LENGTH_BYTES) {
          length = length * 256 + (bytes[at] as number);
          at += 1;
          read += 1;
          check('an event', length, 0);
          continue;
        }
        const part = bytes.subarray(at, at + Math.max(1, length - read));
        values.add(part);
        check('an event', length, values.count);
        at += part.length;
        read += part.length;
        if (read < length) continue;
        [read, length] = [0, 0];
        values.reset();
      }
    },
  };
}

function check(what: string, bytes: number, values: number): void {
  if (bytes > MAX_MESSAGE_BYTES) throw tooLong(`${what} of at most ${MAX_MESSAGE_BYTES} bytes`);
  if (values > MAX_MESSAGE_VALUES) {
    throw tooLong(`${what} of at most ${MAX_MESSAGE_VALUES} JSON values`);
  }
}

function tooLong(expected: string): Error {
  return unboundedReply(expected, 'more');
}
