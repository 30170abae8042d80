/**
 * Calls of tools that held their worker: no heartbeat could be sent, so the service took the worker
 * for lost while it lived. Only the worker can tell, and does so by a signal.
 *
 * I1  Only calls that are open are noted, so what any client sends cannot grow the run.
 * I2  A signal changes nothing but the heartbeat of later attempts of its call.
 */
import { isPlainObject } from '../../core/base/json.ts';

/** What workers said about calls that are open. */
export interface HeldCalls {
  /** A call begins. Returns what ends it. */
  readonly begin: (callId: string) => () => void;
  /** Reads the payload of the signal, which may come from any client. */
  readonly hear: (payload: unknown) => void;
  /** The longest time that the call is known to hold a worker, in ms; 0: none. */
  readonly heldMs: (callId: string) => number;
}

/** No calls yet. */
export function createHeldCalls(): HeldCalls {
  const open = new Map<string, number>();
  return {
    begin: (callId) => {
      open.set(callId, 0);
      return () => void open.delete(callId);
    },
    hear: (payload) => {
      if (!isPlainObject(payload)) return;
      const { callId, heldMs } = payload;
      if (typeof callId !== 'string' || !Number.isSafeInteger(heldMs)) return;
      const known = open.get(callId);
      if (known !== undefined) open.set(callId, Math.max(known, heldMs as number));
    },
    heldMs: (callId) => open.get(callId) ?? 0,
  };
}
