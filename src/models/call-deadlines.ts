/**
 * The deadlines of one model call: until its request is on its way, until the first token, and
 * between two parts of the reply. A deadline aborts the call as a cancel does, so that the
 * connection is closed at once; the call then fails and is retried.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { defined } from '../core/base/defined.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';

/** How long a model of the AI SDK may take, in milliseconds; an entry may set its own. */
export const CALL_DEADLINES = { connectMs: 10_000, firstTokenMs: 180_000, idleMs: 60_000 } as const;

type Deadline = keyof typeof CALL_DEADLINES;

/** What a deadline says when it has passed, after the time. */
const TEXTS: Readonly<Record<Deadline, string>> = {
  connectMs: 'The provider could not be reached within',
  firstTokenMs: 'The provider sent no token within',
  idleMs: 'The provider sent nothing more for',
};

/** Timers of Node take no longer time. */
const MAX_TIMER_MS = 2_147_483_647;

/** The deadlines of a call in flight. */
export interface CallWatch {
  /** Aborted when the call is aborted, and at a deadline. */
  readonly signal: AbortSignal;
  /** Runs the call. The requests that it makes are under `connectMs`. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Takes note of a part of the reply: only what the model itself says is a token. */
  readonly onPart: (isToken: boolean) => void;
  /** The error of the deadline that passed, if one did. */
  readonly expired: () => Error | undefined;
  /** Ends all deadlines. */
  readonly close: () => void;
}

/** The call in which a request is made. */
const calls = new AsyncLocalStorage<{ readonly onRequest: (request: object) => void }>();
/** What to do once a request is on its way. */
const waiting = new WeakMap<object, () => void>();
let isListening = false;

/** Watches one call of `entry`, which `signal` aborts. */
export function watchCall(entry: ModelEntry, signal: AbortSignal): CallWatch {
  const { connectMs, firstTokenMs, idleMs } = timesOf(entry);
  const stop = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  let error: Error | undefined;
  let silence: NodeJS.Timeout | undefined;
  let isTalking = false;

  const arm = (deadline: Deadline, ms: number): NodeJS.Timeout => {
    const timer = setTimeout(
      () => {
        error = new Error(`${TEXTS[deadline]} ${ms / 1000} s (\`${deadline}\` of the model).`);
        stop.abort(error);
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    timers.add(timer);
    return timer;
  };
  const disarm = (timer: NodeJS.Timeout | undefined): void => {
    clearTimeout(timer);
    if (timer !== undefined) timers.delete(timer);
  };
  const onRequest = (request: object): void => {
    const timer = arm('connectMs', connectMs);
    waiting.set(request, () => disarm(timer));
  };
  return {
    signal: AbortSignal.any([signal, stop.signal]),
    run: (work) => {
      listen();
      if (firstTokenMs !== Infinity) silence = arm('firstTokenMs', firstTokenMs);
      return connectMs === Infinity ? work() : calls.run({ onRequest }, work);
    },
    onPart: (isToken) => {
      if (isTalking) return void silence?.refresh();
      if (!isToken) return;
      isTalking = true;
      disarm(silence);
      silence = idleMs === Infinity ? undefined : arm('idleMs', idleMs);
    },
    expired: () => error,
    close: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

/** A function decides for itself how long it takes, unless its entry says otherwise. */
function timesOf({
  model,
  connectMs,
  firstTokenMs,
  idleMs,
}: ModelEntry): Readonly<Record<Deadline, number>> {
  const defaults =
    typeof model === 'function'
      ? { connectMs: Infinity, firstTokenMs: Infinity, idleMs: Infinity }
      : CALL_DEADLINES;
  return { ...defaults, ...defined({ connectMs, firstTokenMs, idleMs }) };
}

/** Node's `fetch` tells of each request when it is made and when it is sent. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('undici:request:create', (message) => {
    calls.getStore()?.onRequest((message as { readonly request: object }).request);
  });
  subscribe('undici:client:sendHeaders', (message) => {
    waiting.get((message as { readonly request: object }).request)?.();
  });
}
