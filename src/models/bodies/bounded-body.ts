/**
 * The body of a provider's response, bounded as it is read.
 *
 * I1  Nothing is read ahead of the reader, and a reader that leaves closes the body.
 * I2  A bound that is crossed closes the body, and is the reader's error.
 * I3  A body that always has more lets others have their turn, whatever is in it.
 */
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { MessageMeter } from './message-meter.ts';
import { ERROR_BODY_MS, MAX_ERROR_BYTES } from './reply-bounds.ts';

/** Bytes that are passed on at once; parsing them takes a millisecond. */
const PIECE_BYTES = 16_384;

/** Bytes that are passed on before others have their turn. */
const TURN_BYTES = 65_536;

/** `body`, which fails with the error of `meter`. */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  meter: MessageMeter,
): ReadableStream<Uint8Array> {
  const pieces = createPieces(body);
  return streamOf(pieces, async (controller) => {
    const piece = await pieces.next();
    if (piece === undefined) return controller.close();
    try {
      meter.add(piece);
    } catch (error) {
      controller.error(error);
      return pieces.leave(error);
    }
    controller.enqueue(piece);
  });
}

/** The beginning of the body of an error: its reader gets the status in any case. */
export function errorBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = createPieces(body);
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ERROR_BODY_MS).unref();
  });
  return streamOf(pieces, async (controller) => {
    // A connection that breaks within the body of an error has told its status.
    const piece = await Promise.race([pieces.next().catch(() => undefined), late]);
    const part = piece?.subarray(0, MAX_ERROR_BYTES - bytes) ?? EMPTY;
    bytes += part.length;
    if (part.length > 0) controller.enqueue(part);
    if (piece !== undefined && bytes < MAX_ERROR_BYTES) return;
    clearTimeout(timer);
    controller.close();
    return pieces.leave();
  });
}

const EMPTY = new Uint8Array();

/** A body in pieces of bounded length. */
interface Pieces {
  /** The next piece; undefined at the end. */
  readonly next: () => Promise<Uint8Array | undefined>;
  /** Closes the body. Its errors do not matter any more. */
  readonly leave: (reason?: unknown) => Promise<void>;
}

function createPieces(body: ReadableStream<Uint8Array>): Pieces {
  const reader = body.getReader();
  let rest: Uint8Array = EMPTY;
  let passed = 0;
  return {
    next: async () => {
      if (passed >= TURN_BYTES) {
        passed = 0;
        await othersTurn();
      }
      while (rest.length === 0) {
        const read = await reader.read();
        if (read.done) return undefined;
        rest = read.value;
        // Pieces without bytes would otherwise never give others their turn.
        passed += PIECE_MIN_BYTES;
        if (rest.length === 0) await othersTurn();
      }
      const piece = rest.subarray(0, PIECE_BYTES);
      rest = rest.subarray(PIECE_BYTES);
      passed += piece.length;
      return piece;
    },
    leave: (reason) => reader.cancel(reason).catch(() => undefined),
  };
}

/** What a piece counts at least. */
const PIECE_MIN_BYTES = 64;

function streamOf(
  pieces: Pieces,
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({ pull, cancel: pieces.leave }, { highWaterMark: 0 });
}
