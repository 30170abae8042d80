/**
 * Work that takes too long. The SDK cuts off a workflow task after five seconds and tries it again
 * for ever. The worker notices, and tells the run what it must not compute again.
 *
 * I1  A global names the current work. It is set before work that may take long and after each
 *     event. Only the worker's thread reads it, after a cut; see `guard-workflow-threads.ts`.
 * I2  The signal names the work by the last event before it, and has no effect on other work. So a
 *     late or forged signal does no harm.
 */
import { ApplicationFailure } from '@temporalio/workflow';
import { isPlainObject } from '../core/base/json.ts';
import type { Overrun } from '../core/contract/messages.ts';
import type { Leave } from '../core/run/ending.ts';
import type { Computing } from '../core/run/host.ts';

/** The global that says what is computed. */
const WORK = '__EVERLOOP_WORK__';

const KINDS: readonly unknown[] = ['reply', 'check', 'program', 'loop'] satisfies Overrun['work'][];

/** What a run computes, as its host knows it. */
export interface WatchedComputing extends Pick<Computing, 'run'> {
  /** Event `seq` is recorded. Throws when what follows it must not be computed again. */
  passed(seq: number): void;
}

/** Nothing is computed yet. `overrun` gives what must not be computed again. */
export function createComputing(overrun: () => Overrun | null): WatchedComputing {
  let last = 0;
  const isOverrun = (work: Overrun['work']): boolean => {
    const known = overrun();
    return known !== null && known.work === work && known.seq === last;
  };
  const say = (work: Overrun['work']): boolean => Reflect.set(globalThis, WORK, `${work} ${last}`);
  return {
    run: (kind, work) => {
      if (isOverrun(kind)) return null;
      say(kind);
      try {
        return work();
      } finally {
        say('loop');
      }
    },
    passed: (seq) => {
      last = seq;
      say('loop');
      if (isOverrun('loop')) throw tooLong();
    },
  };
}

/** Ends the run as `internal`, wherever it is thrown; an update that throws it is refused. */
function tooLong(): Error {
  const message =
    'Expected the run to go on within five seconds; its worker cut it off three times.';
  const failure = ApplicationFailure.create({ type: 'internal', message, nonRetryable: true });
  // As an error that leaves the iteration it is no `loop_error`.
  return Object.assign(failure, {
    leave: { kind: 'failed', code: 'internal', cause: message } satisfies Leave,
  });
}

/** Reads the payload of the signal, which may come from any client; null if it is none. */
export function readOverrun(payload: unknown): Overrun | null {
  if (!isPlainObject(payload)) return null;
  const { work, seq } = payload;
  return KINDS.includes(work) && Number.isSafeInteger(seq) ? ({ work, seq } as Overrun) : null;
}
