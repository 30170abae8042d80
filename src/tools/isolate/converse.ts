/** The worker's side of one call in a thread or process. */
import { defined } from '../../core/base/defined.ts';
import { utf8Length } from '../../core/base/json.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { errorText } from '../../core/base/error-text.ts';
import { LostIsolateError, type IsolatedCall } from '../isolation.ts';
import {
  applyReport,
  MAX_CALL_BYTES,
  readMessage,
  valueOf,
  type IsolatedEnd,
  type IsolatedOrder,
} from './messages.ts';
import type { OnMessage, Transport } from './transport.ts';

/** How long a thread or process may go on after its call has ended. */
const LEAVE_MS = 1_000;

/** A call that runs. */
export interface RunningCall {
  /** What the call returned; rejects with what it threw, or when it was lost. */
  readonly value: Promise<unknown>;
  /** Resolves once its thread is free, or its process has ended. */
  readonly ended: Promise<unknown>;
}

/** Starts a call and listens to it. */
export function converse(
  call: IsolatedCall,
  open: (order: IsolatedOrder, onMessage: OnMessage) => Transport,
): RunningCall {
  const { name, tool, context } = call;
  const { promise, resolve, reject } = deferred();
  const timers = new Set<NodeJS.Timeout>();
  const killAfter = (ms: number): void => void timers.add(setTimeout(() => transport.kill(), ms));
  let bytes = 0;
  const transport = open(orderOf(call), (message) => {
    try {
      const end = readPart(message);
      if (end === null) return;
      resolve(new Promise((settle) => settle(valueOf(end))));
      killAfter(LEAVE_MS);
    } catch (error) {
      reject(error);
      killAfter(0);
    }
  });
  /** The end of the call; null for a report, which is applied. */
  const readPart = (message: unknown): IsolatedEnd | null => {
    bytes += typeof message === 'string' ? utf8Length(message) : Infinity;
    const part = bytes <= MAX_CALL_BYTES ? readMessage(message as string) : null;
    if (part === null) {
      throw new LostIsolateError(
        `the ${tool.place} of ${name} sent more than ${MAX_CALL_BYTES} bytes, or no message that Everloop knows`,
        true,
      );
    }
    if (part.kind === 'returned' || part.kind === 'threw') return part;
    applyReport(part, context);
    return null;
  };
  const onAbort = (): void => {
    const { reason } = context.signal as { readonly reason: unknown };
    transport.stop(reason instanceof Error ? reason.name : 'AbortError', errorText(reason));
    killAfter(call.graceMs(reason));
  };
  if (context.signal.aborted) onAbort();
  else context.signal.addEventListener('abort', onAbort, { once: true });
  const ended = transport.ended.then(({ how, started }) => {
    for (const timer of timers) clearTimeout(timer);
    context.signal.removeEventListener('abort', onAbort);
    reject(new LostIsolateError(`the ${tool.place} of ${name} ${how}`, started));
  });
  return { value: promise, ended };
}

/** The order as the code gets it. Throws a UsageError if the arguments cannot be copied. */
function orderOf({ name, tool, args, context, known }: IsolatedCall): IsolatedOrder {
  const data = Object.entries(context).filter(
    ([key, value]) => key !== 'signal' && typeof value !== 'function',
  );
  const { module, definedAs } = tool;
  const order = {
    name,
    module,
    args,
    context: Object.fromEntries(data),
    known,
    ...defined({ definedAs }),
  };
  try {
    return structuredClone(order);
  } catch (error) {
    throw new UsageError(
      'tool_isolate',
      `Expected arguments of \`${name}\` that can be copied to a ${tool.place}, got: ${errorText(error)}. Let the schema make plain data.`,
    );
  }
}

function deferred(): {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
} {
  let resolve: (value: unknown) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<unknown>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  // A call that was given up may end later.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
