/**
 * The deadlines of one model call: to send its request, to get the first token, and to get each
 * further part of the reply. A deadline aborts the call as a cancel does, so the connection closes
 * at once. The call then fails and is retried. So is a call aborted that its caller gives up.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { defined } from '../core/base/defined.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';

/** How long a model of the AI SDK may take, in milliseconds; an entry may set its own. */
const CALL_DEADLINES = { connectMs: 10_000, firstTokenMs: 180_000, idleMs: 60_000 } as const;

type Deadline = keyof typeof CALL_DEADLINES;

/** The message of a deadline that has passed, without its time. */
const TEXTS: Readonly<Record<Deadline, string>> = {
  connectMs: 'The provider could not be reached within',
  firstTokenMs: 'The provider sent no token within',
  idleMs: 'The provider sent nothing more for',
};

/** The longest delay that a timer of Node accepts. */
const MAX_TIMER_MS = 2_147_483_647;

/** The deadlines of a call in flight. */
export interface CallWatch {
  /** Aborts with the call, and at a deadline. */
  readonly signal: AbortSignal;
  /** Runs the call; `connectMs` holds for each request that it makes. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Reports a part of the reply; a token is a part that the model itself wrote. */
  readonly onPart: (isToken: boolean) => void;
  /** Aborts the call for `error`. */
  readonly giveUp: (error: Error) => void;
  /** The error for which the call was aborted: of the deadline that passed, or that it was given up for. */
  readonly expired: () => Error | undefined;
  /** Clears all deadlines. */
  readonly close: () => void;
}

/** The call that makes a request. */
const calls = new AsyncLocalStorage<{ readonly onRequest: (request: object) => void }>();
/** Called when a request is on its way, or has failed. */
const waiting = new WeakMap<object, () => void>();
let isListening = false;

/** Watches one call of `entry`; `signal` aborts the call. */
export function watchCall(entry: ModelEntry, signal: AbortSignal): CallWatch {
  const { connectMs, firstTokenMs, idleMs } = timesOf(entry);
  const stop = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  let error: Error | undefined;
  let silence: NodeJS.Timeout | undefined;
  let isTalking = false;

  const giveUp = (reason: Error): void => {
    error ??= reason;
    stop.abort(error);
  };
  const arm = (deadline: Deadline, ms: number): NodeJS.Timeout => {
    const timer = setTimeout(
      () => giveUp(new Error(`${TEXTS[deadline]} ${ms / 1000} s (\`${deadline}\` of the model).`)),
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
    giveUp,
    expired: () => error,
    close: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

/** The deadlines of an entry. A model function has none unless its entry sets them. */
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

/** What Node's `fetch` reports of a request that is no longer waiting to be sent. */
const SENT_OR_FAILED = [
  'undici:client:sendHeaders',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:error',
] as const;

/** Hears of the requests of Node's `fetch`: when they are created, and when they are sent or fail. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  subscribe('undici:request:create', (message) => {
    calls.getStore()?.onRequest(requestOf(message));
  });
  for (const channel of SENT_OR_FAILED) {
    subscribe(channel, (message) => waiting.get(requestOf(message))?.());
  }
}

function requestOf(message: unknown): object {
  return (message as { readonly request: object }).request;
}
