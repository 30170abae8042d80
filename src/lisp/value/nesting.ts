import { Fault } from '../base/problem.ts';
import type { Meter } from './value.ts';

/** Fails when a walk of a value is deeper than a value may nest. */
export function checkNesting(nesting: number, meter: Meter): void {
  if (nesting <= meter.maxNesting) return;
  throw new Fault(
    'depth_exceeded',
    `A value is nested more than ${meter.maxNesting} deep here. Build flatter data, or take it apart with \`loop\`/\`recur\`.`,
  );
}
