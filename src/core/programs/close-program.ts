/** The end of a program in its run: it is recorded, and may end the run. */
import * as lisp from '../../lisp.ts';
import { leaving } from '../run/ending.ts';
import type { Effects } from './effects.ts';
import { endProgram, isOutOfFuel, type EndingProgram } from './end-program.ts';
import type { KeptProgram } from '../run/kept-program.ts';
import type { ProgramError, ProgramReport } from '../contract/report.ts';
import type { RunningProgram } from './program-context.ts';
import { programSpecOf } from './world.ts';

/** How a program ended. */
export type ProgramEnd =
  | { readonly unstarted: ProgramError }
  | {
      readonly machine: lisp.Machine;
      readonly outcome: lisp.Outcome;
      readonly effects: Effects;
      /** Set when its machine could not be restored: then `machine` is not its own. */
      readonly lost: KeptProgram | null;
    };

/** Records the end of a program, and ends the run where the limits say so. */
export function closeProgram(running: RunningProgram, end: ProgramEnd): ProgramReport {
  const { run, order } = running;
  const ended = endProgram(endingOf(running, end));
  const durationMs = run.host.now() - running.since;
  run.record({ ...ended.event, durationMs }, { program: ended.state });
  if ('outcome' in end && isOutOfFuel(end.outcome) && running.isShort) {
    const crossed = run.wouldCross(['agent:program_steps']);
    if (crossed !== null) run.breach(crossed);
  }
  if (ended.exceeded !== undefined) {
    const cause = `program ${order.programId}: ${ended.exceeded}`;
    throw leaving({ kind: 'failed', code: 'memory_limit_exceeded', cause });
  }
  return ended.report;
}

const NOTHING_DONE = { changed: [], notes: [], done: [], hidden: [], fuel: 0, calls: 0 } as const;

function endingOf(running: RunningProgram, end: ProgramEnd): EndingProgram {
  const { run, order, since, warnings } = running;
  const { program: before, head } = run.state;
  const base = {
    programId: order.programId,
    source: order.source,
    since,
    spec: programSpecOf(head.spec),
    before,
    warnings,
  };
  const memoryBefore = before?.memory ?? lisp.EMPTY_MEMORY;
  if ('unstarted' in end) {
    return {
      ...base,
      outcome: { kind: 'unstarted', error: end.unstarted },
      withJournal: () => memoryBefore,
      isCanceled: end.unstarted.reason === 'canceled',
      ...NOTHING_DONE,
    };
  }
  const { machine, outcome, effects, lost } = end;
  const isCanceled = outcome.kind === 'error' && outcome.error.reason === 'canceled';
  const ended = { ...base, warnings: [...warnings, ...effects.edits], isCanceled };
  if (lost !== null) {
    const memory = lost.memory ?? memoryBefore;
    return {
      ...ended,
      outcome: { ...outcome, memory },
      withJournal: () => memory,
      changed: [],
      notes: [],
      done: lost.done,
      hidden: lost.hidden ?? [],
      fuel: lost.fuel,
      calls: lost.calls,
    };
  }
  return {
    ...ended,
    outcome: isCanceled && !run.isStopped() ? interrupted(outcome) : outcome,
    withJournal: () => lisp.memoryWithJournal(machine),
    changed:
      outcome.kind === 'value' || outcome.kind === 'returned'
        ? lisp.changedDefinitions(machine, { total: base.spec.sizes.resultChars, hides: true })
        : [],
    notes: lisp.notesOf(machine),
    done: effects.done(),
    hidden: effects.hidden(),
    fuel: lisp.fuelUsed(machine),
    calls: effects.calls(),
    status: lisp.programStatus(machine),
  };
}

/** The error of a program that an input has interrupted: the run goes on. */
function interrupted(outcome: lisp.Outcome): lisp.Outcome {
  if (outcome.kind !== 'error') return outcome;
  const message = 'The program was canceled before it finished: a new message came.';
  return { ...outcome, error: { ...outcome.error, message } };
}
