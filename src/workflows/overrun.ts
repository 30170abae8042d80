/**
 * Work that takes too long. The SDK cuts a workflow task off after five seconds and tries it again for
 * ever, so the worker, which notices, tells the run what must not be computed again.
 *
 * I1  Before work that may take long, and after each event, a global says what is computed. Only the
 *     worker's thread reads it, when it has cut the task off; see `guard-workflow-threads.ts`.
 * I2  The signal names the work by the last event before it. It has no effect on any other work, so
 *     one that comes late, or from someone else, does nothing.
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
