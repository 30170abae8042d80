/**
 * What the service says of the schedule that started a run. Only the service sets these search
 * attributes, so a start that claims a schedule without them has none.
 */
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import { isPlainObject } from '../core/base/json.ts';
import { isStep } from '../core/contract/piping.ts';
import type { PreviousRun, ScheduledStart } from '../core/contract/schedule.ts';
import type { Step } from '../core/contract/step.ts';
import { RefusedTask } from './failures.ts';
import { EncryptedPayload } from './payload-converter.ts';

/** The schedule of a fresh run whose start is `payload`; undefined if none started it. */
export function readScheduled(payload: unknown): ScheduledStart | undefined {
  const mark = isPlainObject(payload) ? payload['schedule'] : undefined;
  if (!isPlainObject(payload) || !isPlainObject(mark)) return undefined;
  // The typed attributes lack those of the service, which carry no type.
  const { searchAttributes, lastResult, lastFailure } = workflowInfo();
  const [id] = searchAttributes['TemporalScheduledById'] ?? [];
  const [at] = searchAttributes['TemporalScheduledStartTime'] ?? [];
  if (typeof id !== 'string' || !(at instanceof Date)) return undefined;
  const zone = mark['timeZone'];
  const wantsPrevious = mark['previous'] === true;
  return {
    id,
    time: at.toISOString(),
    timeZone: typeof zone === 'string' ? zone : 'UTC',
    ...defined({
      previous: wantsPrevious
        ? previousOf(payload['agent'], id, stepIn(lastFailure) ?? readable(lastResult))
        : undefined,
    }),
  };
}

/** The Step that a failed run before this one has left; its failure carries it. */
function stepIn(failure: Error | undefined): unknown {
  return failure instanceof ApplicationFailure ? readable(failure.details?.[0]) : undefined;
}

/** @throws RefusedTask for a Step that this worker cannot decrypt: another one can. */
function readable(value: unknown): unknown {
  if (!(value instanceof EncryptedPayload)) return value;
  throw new RefusedTask(
    `Refused: the Step of the run before is encrypted with key ${value.keyId ?? 'of an unknown name'}, which this worker does not have. A worker that has it takes the run.`,
  );
}

/** How the run before ended; null if there was none, or if what it left is no Step of this schedule. */
function previousOf(agent: unknown, id: string, left: unknown): PreviousRun | null {
  if (!isStep(left) || left.agent !== agent || !isOf(left, id)) return null;
  const { status, value, reason, trace } = left;
  return { status, value, reason, endedAt: trace.schedule?.endedAt ?? null };
}

function isOf({ trace }: Step, id: string): boolean {
  return trace.schedule?.id === id;
}
