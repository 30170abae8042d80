/**
 * Model calls that the service gave up while they ran, because heartbeats came late on a busy
 * machine. The service or the workflow tries such a call again. If the next attempt comes to the
 * same process, it takes over the call that still runs, or its reply, and nothing is paid twice.
 *
 * I1  A call that nobody waits for is aborted after {@link ORPHAN_MS}: its run may have ended.
 * I2  A cancel, a shutdown and a reset abort the call at once.
 * I3  Only replies are kept after their call, for {@link KEEP_MS}, and at most {@link MAX_BYTES}: the
 *     oldest make room for the newest.
 */
/** How long a call goes on without an attempt; the next one comes within a second or two. */
const ORPHAN_MS = 10_000;

/** How long a reply is kept; longer than an attempt needs to be missed and made again. */
const KEEP_MS = 20_000;

/** Bytes of kept replies. */
const MAX_BYTES = 16_000_000;

/** A call of this process. */
interface OpenCall<Result, Start> {
  readonly start: Start;
  readonly result: Promise<Result>;
  /** Null once the call has ended: what listens to it would be kept with its reply. */
  abort: AbortController | null;
  waiting: number;
  bytes: number;
  timer?: NodeJS.Timeout;
}

/** A call that may be taken over. */
export interface SharedCall<Result, Start> {
  /** The same for each attempt of one call; undefined: it cannot be taken over. */
  readonly key: string | undefined;
  /** What is known of the attempt. */
  readonly start: Start;
  readonly signal: AbortSignal;
  /** Whether the signal was aborted because the service gave up the attempt. */
  readonly isGivenUp: () => boolean;
  readonly begin: (signal: AbortSignal) => Promise<Result>;
  /** Called when the call is taken over, with how it had begun. */
  readonly onTakeOver: (start: Start) => void;
  /** Bytes of a result that is worth keeping; null: it is not. */
  readonly bytesOf: (result: Result) => number | null;
}

/** Runs calls. */
export interface GivenUpCalls {
  readonly run: <Result, Start>(call: SharedCall<Result, Start>) => Promise<Result>;
}

/** The calls of one process. */
export function createGivenUpCalls(): GivenUpCalls {
  const open = new Map<string, OpenCall<unknown, unknown>>();
  // In the order in which their calls ended.
  const kept = new Map<OpenCall<unknown, unknown>, string>();
  let bytes = 0;
  const forget = (key: string, call: OpenCall<unknown, unknown>): void => {
    clearTimeout(call.timer);
    kept.delete(call);
    bytes -= call.bytes;
    call.bytes = 0;
    if (open.get(key) === call) open.delete(key);
  };
  const keep = (key: string, call: OpenCall<unknown, unknown>, size: number | null): void => {
    if (size === null || size > MAX_BYTES) return forget(key, call);
    for (const [oldest, its] of kept) {
      if (bytes + size <= MAX_BYTES) break;
      forget(its, oldest);
    }
    kept.set(call, key);
    bytes += size;
    call.bytes = size;
    clearTimeout(call.timer);
    call.timer = setTimeout(() => forget(key, call), KEEP_MS).unref();
  };
  const begun = <Result, Start>(
    key: string,
    { start, begin, bytesOf }: SharedCall<Result, Start>,
  ): OpenCall<Result, Start> => {
    const abort = new AbortController();
    const call: OpenCall<Result, Start> = {
      start,
      result: begin(abort.signal),
      abort,
      waiting: 0,
      bytes: 0,
    };
    open.set(key, call);
    call.result.then(
      (result) => {
        call.abort = null;
        keep(key, call, bytesOf(result));
      },
      () => forget(key, call),
    );
    return call;
  };
  return {
    run: async <Result, Start>(shared: SharedCall<Result, Start>) => {
      const { key, signal, begin, onTakeOver } = shared;
      if (key === undefined) return begin(signal);
      const found = open.get(key) as OpenCall<Result, Start> | undefined;
      const isUsable = found !== undefined && found.abort?.signal.aborted !== true;
      const call = isUsable ? found : begun(key, shared);
      if (isUsable) onTakeOver(call.start);
      return waitFor(call, shared);
    },
  };
}

/** Waits for a call until it settles, and ends it if it is to end. */
async function waitFor<Result, Start>(
  call: OpenCall<Result, Start>,
  { signal, isGivenUp }: Pick<SharedCall<Result, Start>, 'signal' | 'isGivenUp'>,
): Promise<Result> {
  call.waiting += 1;
  let isWaiting = true;
  const leave = (): void => {
    if (isWaiting) call.waiting -= 1;
    isWaiting = false;
  };
  const onAbort = (): void => {
    leave();
    if (!isGivenUp()) return call.abort?.abort(signal.reason);
    const orphaned = setTimeout(() => {
      if (call.waiting === 0) call.abort?.abort(signal.reason);
    }, ORPHAN_MS).unref();
    call.result.then(
      () => clearTimeout(orphaned),
      () => clearTimeout(orphaned),
    );
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await call.result;
  } finally {
    signal.removeEventListener('abort', onAbort);
    leave();
  }
}
