/** One iteration in progress, as the code that runs in it sees it. */
import { createHeldReads, type HeldReads } from '../toolchain/held-reads.ts';
import type { HandoverGate } from './handover-gate.ts';
import type { Run } from './run.ts';

/** What has begun in an iteration and has not ended. */
export interface OpenCount {
  count: number;
  /** The model of each model call in flight: limits count these before they have ended. */
  readonly models: string[];
  /** Tools that the request of the newest reply left out; absent: none. */
  notOffered?: readonly string[] | undefined;
  /** Set when the loop has ended without waiting for what it began. */
  isOver?: true;
}

/** One iteration in progress. */
export interface Iteration {
  readonly run: Run;
  readonly open: OpenCount;
  /** How its turn can be handed over before its end. */
  readonly gate: HandoverGate;
  /** What ran beside its replies. */
  readonly reads: HeldReads;
}

/** An iteration in which nothing has begun. */
export function createIteration(
  run: Run,
  gate: HandoverGate,
  reads: HeldReads = createHeldReads(run.state.iteration),
): Iteration {
  return { run, open: { count: 0, models: [] }, gate, reads };
}
