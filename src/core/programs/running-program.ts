/** A program on its way, as all parts of `run-program.ts` hold it. */
import type { Host } from '../run/host.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { OpenCount } from '../run/open-count.ts';
import { isInterrupted, isStopped, type Run } from '../run/run.ts';
import type { KeptProgram } from '../run/kept-program.ts';

/** A program to run. */
export interface ProgramOrder {
  readonly source: string;
  /** `{iteration}.p`; one program of a run has it. */
  readonly programId: string;
  /** What the model wrote beside it, for people who approve a call. Default: nothing. */
  readonly reasoning?: string;
  /** How far an earlier link came with it. */
  readonly kept?: KeptProgram;
  /** Makes the turn of it, so that it can be handed over in its middle. Absent: it stays to its end. */
  readonly keep?: (program: KeptProgram) => KeptTurn;
}

/** A program on its way. */
export interface RunningProgram {
  readonly run: Run;
  readonly host: Host;
  readonly open: OpenCount;
  readonly order: ProgramOrder;
  readonly since: number;
  readonly warnings: readonly string[];
  /** Whether the run leaves it less fuel than its own limit. */
  readonly isShort: boolean;
}

/** Whether a program is to end. */
export function isOver({
  run,
  host,
  open,
}: Pick<RunningProgram, 'run' | 'host' | 'open'>): boolean {
  return isStopped(run, host) || isInterrupted(host) || open.isOver === true;
}
