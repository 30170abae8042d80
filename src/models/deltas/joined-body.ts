/**
 * The body of a stream of server-sent events, with adjacent pieces of a reply joined.
 *
 * I1  What is no piece passes at once, with all that came before it; so do the first piece after a
 *     pause, the end, and what came before an error.
 * I2  Nothing is read ahead of the reader, except while pieces are held; these are bounded by
 *     `delta-joiner.ts`.
 * I3  An error of the body is the reader's error, and a reader that leaves closes the body.
 */
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import type { ModelChunk } from '../../core/contract/model.ts';
import { createDeltaJoiner, type DeltaJoiner } from './delta-joiner.ts';
import type { DeltaProtocol } from './delta-shape.ts';

/** How a body is joined. */
export interface JoinOptions {
  readonly protocol: DeltaProtocol;
  /** How long pieces of `kind` may be held, in ms; asked for each time. */
  readonly holdMs: (kind: ModelChunk['kind']) => number;
  /** Gets each piece at once. */
  readonly onDelta: (chunk: ModelChunk) => void;
}

/** `body` with its pieces joined. */
export function joinedBody(
  body: ReadableStream<Uint8Array>,
  { protocol, holdMs, onDelta }: JoinOptions,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const joiner: DeltaJoiner = createDeltaJoiner(protocol, onDelta);
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  /** What may pass, and waits for the reader. */
  let ready = '';
  let end: { readonly error?: unknown } | undefined;
  /** Set while the reader waits. */
  let served: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let passedAt = -Infinity;
  let isReading = false;

  const pass = (): void => {
    if (served === undefined) return;
    if (ready !== '') {
      controller.enqueue(encoder.encode(ready));
      ready = '';
      passedAt = performance.now();
    } else if (end === undefined) return;
    else if ('error' in end) controller.error(end.error);
    else controller.close();
    served();
    served = undefined;
  };
  const release = (): void => {
    clearTimeout(timer);
    timer = undefined;
    ready += joiner.flush();
    pass();
  };
  const take = (bytes: Uint8Array): void => {
    ready += joiner.take(decoder.decode(bytes, { stream: true }));
    const kind = joiner.held();
    if (kind === undefined) {
      clearTimeout(timer);
      timer = undefined;
      return pass();
    }
    if (timer !== undefined) return ready === '' ? undefined : pass();
    const waitMs = passedAt + holdMs(kind) - performance.now();
    if (waitMs <= 0) return release();
    timer = setTimeout(release, waitMs);
    pass();
  };
  const finish = (how: { readonly error?: unknown }): void => {
    ready += joiner.take(decoder.decode()) + joiner.flush('end');
    end = how;
    clearTimeout(timer);
    pass();
  };
  const read = (): void => {
    if (isReading || end !== undefined) return;
    isReading = true;
    reader.read().then(
      ({ done, value }) => {
        isReading = false;
        if (done) return finish({});
        take(value);
        if (served !== undefined || joiner.held() !== undefined) read();
      },
      (error: unknown) => finish({ error }),
    );
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      pull: () =>
        new Promise<void>((resolve) => {
          served = resolve;
          pass();
          if (served !== undefined) read();
        }),
      cancel: (reason) => {
        end = {};
        served = undefined;
        clearTimeout(timer);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
