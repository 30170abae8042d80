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
  const outlet = createOutlet();
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;

  const disarm = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const release = (): void => {
    disarm();
    outlet.pass(joiner.flush());
  };
  const take = (bytes: Uint8Array): void => {
    outlet.add(joiner.take(decoder.decode(bytes, { stream: true })));
    const kind = joiner.held();
    if (kind === undefined) disarm();
    else if (timer === undefined) {
      const waitMs = outlet.passedAt() + holdMs(kind) - performance.now();
      if (waitMs <= 0) return release();
      timer = setTimeout(release, waitMs);
    }
    outlet.pass();
  };
  const finish = (how: BodyEnd): void => {
    disarm();
    outlet.add(joiner.take(decoder.decode()) + joiner.flush('end'));
    outlet.end(how);
  };
  const read = (): void => {
    if (isReading || outlet.hasEnded()) return;
    isReading = true;
    reader.read().then(
      ({ done, value }) => {
        isReading = false;
        if (done) return finish({});
        take(value);
        if (outlet.isWaiting() || joiner.held() !== undefined) read();
      },
      (error: unknown) => finish({ error }),
    );
  };
  return outlet.open(read, (reason) => {
    disarm();
    return reader.cancel(reason);
  });
}

/** How a body ended; with an `error`, it broke. */
interface BodyEnd {
  readonly error?: unknown;
}

/** What goes to the reader of a joined body. */
interface Outlet {
  /** The stream of the reader; `more` is called when it waits, `leave` when it leaves. */
  readonly open: (
    more: () => void,
    leave: (reason: unknown) => Promise<void>,
  ) => ReadableStream<Uint8Array>;
  /** Adds text that may pass. */
  readonly add: (text: string) => void;
  /** Passes all text, if the reader waits. */
  readonly pass: (text?: string) => void;
  /** Ends the stream after its text. */
  readonly end: (how: BodyEnd) => void;
  readonly isWaiting: () => boolean;
  readonly hasEnded: () => boolean;
  /** When text passed last, in ms. */
  readonly passedAt: () => number;
}

function createOutlet(): Outlet {
  const encoder = new TextEncoder();
  let ready = '';
  let ended: BodyEnd | undefined;
  let passedAt = -Infinity;
  /** Set while the reader waits. */
  let waiting: ((how: 'text' | BodyEnd) => void) | undefined;
  const pass = (text = ''): void => {
    ready += text;
    const how = ready === '' ? ended : 'text';
    if (waiting === undefined || how === undefined) return;
    const serve = waiting;
    waiting = undefined;
    serve(how);
  };
  const serve = (
    controller: ReadableStreamDefaultController<Uint8Array>,
    how: 'text' | BodyEnd,
  ): void => {
    if (how === 'text') {
      controller.enqueue(encoder.encode(ready));
      ready = '';
      passedAt = performance.now();
    } else if ('error' in how) controller.error(how.error);
    else controller.close();
  };
  return {
    open: (more, leave) =>
      new ReadableStream<Uint8Array>(
        {
          pull: (controller) =>
            new Promise<void>((resolve) => {
              waiting = (how) => {
                serve(controller, how);
                resolve();
              };
              pass();
              if (waiting !== undefined) more();
            }),
          cancel: (reason) => {
            ended = {};
            waiting = undefined;
            return leave(reason);
          },
        },
        { highWaterMark: 0 },
      ),
    add: (text) => {
      ready += text;
    },
    pass,
    end: (how) => {
      ended ??= how;
      pass();
    },
    isWaiting: () => waiting !== undefined,
    hasEnded: () => ended !== undefined,
    passedAt: () => passedAt,
  };
}
