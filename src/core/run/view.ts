/** The program of a run as people see it, from its state alone, without a running machine. */
import { programStatus, restore } from '../../lisp.ts';
import type { RunState } from './run-state.ts';
import type { ProgramView } from '../contract/report.ts';

/**
 * The program that was handed over before its end, else the last that ended; null when there was
 * none.
 */
export function programOfState({
  turn,
  program,
}: Pick<RunState, 'turn' | 'program'>): ProgramView | null {
  const last = program?.last ?? null;
  const kept = turn?.program;
  // The turn stays in the state until its iteration ends, but its program may end earlier.
  if (kept === undefined || kept.programId === last?.programId) return last;
  const { programId, since, snapshot } = kept;
  const source = snapshot.sources[snapshot.program] ?? '';
  return { programId, source, since, status: programStatus(restore(snapshot)) };
}
