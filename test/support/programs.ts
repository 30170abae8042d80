/** Runs that run programs, one an iteration, without a model: what a mode would do with them is not here. */
import type { ProgramReport } from '../../src/core/contract/report.ts';
import { programsLoop } from './fixtures/workflows/programs-loop.ts';
import { startRun, type RunOptions, type StartedRun } from './runs.ts';

/** A run of programs, and what each came to. */
export interface ProgramRun extends StartedRun {
  readonly reports: readonly ProgramReport[];
}

/** Starts a run that runs `sources` in turn, one an iteration, and ends with the last value. */
export function startPrograms(sources: readonly string[], options: RunOptions = {}): ProgramRun {
  const reports: ProgramReport[] = [];
  const next = programsLoop(sources, (report) => reports.push(report));
  return { ...startRun([], { next, ...options }), reports };
}
