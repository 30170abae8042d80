/**
 * Which code of a user runs. Errors that no one catches carry no name of a tool; the context in
 * which they were thrown does.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The call of a user's function. */
export interface Caller {
  /** `tool refund`, `validator polite`. */
  readonly name: string;
  /** The id of the run. */
  readonly run: string;
  /** Absent for validators. */
  readonly callId?: string;
}

const callers = new AsyncLocalStorage<Caller>();

/** Runs `work` as code of `caller`, with everything that it starts. */
export function asCaller<Result>(caller: Caller, work: () => Result): Result {
  return callers.run(caller, work);
}

/** Whose code runs now; undefined outside of users' code. */
export function currentCaller(): Caller | undefined {
  return callers.getStore();
}

/** `tool refund (call c1 of run r1)`. */
export function callerText({ name, run, callId }: Caller): string {
  return `${name} (${callId === undefined ? '' : `call ${callId} of `}run ${run})`;
}
