/** Bounds what the requests of a server hold in memory at the same time. */
import { RefusedRequest } from './wire.ts';

/** Bodies and answers together, in bytes: 256 MiB. */
const MAX_HELD_BYTES = 268_435_456;

/** What one request holds. */
export interface HeldBytes {
  /** Throws a {@link RefusedRequest} 503 if all requests together would then hold too much. */
  take(bytes: number): void;
  /** Gives everything back, and ends the request. May be called twice. */
  release(): void;
}

/** Returns a function that begins a request. */
export function holdBytes(): () => HeldBytes {
  let all = 0;
  return () => {
    let own = 0;
    let isOver = false;
    return {
      take: (bytes) => {
        // The client has left in the middle of its request, so nothing would give this back.
        if (isOver) return;
        if (all + bytes > MAX_HELD_BYTES) {
          throw new RefusedRequest(503, 'Too much is asked for at once. Try again later.');
        }
        all += bytes;
        own += bytes;
      },
      release: () => {
        all -= own;
        own = 0;
        isOver = true;
      },
    };
  };
}
