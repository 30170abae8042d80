/**
 * The calls of a turn that have begun. What a call counts, spends and reports is recorded when it
 * ends, so a limit acts at once. Only the results for the model are in request order.
 */
import { defined } from '../base/defined.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallEnd } from '../contract/outcome.ts';
import type { CallResult } from '../modes/observation.ts';
import { hasEnded } from '../people/wait-for-person.ts';
import type { Run } from '../run/run.ts';
import { readCall, recordCall } from './record-call.ts';

/** A call that runs, or one that will not be started. */
export type BegunCall = StartedCall | { readonly kind: 'settled'; readonly result: CallResult };

/** A call that runs. */
export interface StartedCall {
  readonly kind: 'started';
  readonly call: ToolCall;
  readonly startedAt: number;
  readonly pending: Promise<CallEnd> | CallEnd;
}

/** The turn of calls that are recorded. */
export interface Batch {
  /** The tools that searches of the turn have shown. */
  readonly shownTools: Set<string>;
  /** Called at the end of each call. */
  readonly onEnd: () => void;
}

/** Records each of `begun` when it ends. Returns them with ends that are marked as recorded. */
export function recordAsTheyEnd(
  run: Run,
  begun: readonly BegunCall[],
  { shownTools, onEnd }: Batch,
): readonly BegunCall[] {
  let left = begun.length;
  const record = (one: StartedCall, end: CallEnd): CallEnd => {
    const repeats = recordEnd(run, one, end, shownTools);
    onEnd();
    left -= 1;
    // A wait makes the host publish what is recorded while other calls go on.
    if (left > 0) void run.host.waits.until(() => true);
    return { ...end, isRecorded: true, ...defined({ repeats }) };
  };
  return begun.map((one) => {
    if (one.kind === 'started') {
      const pending = Promise.resolve(one.pending).then((end) => record(one, end));
      return { ...one, pending };
    }
    onEnd();
    left -= 1;
    return one;
  });
}

/**
 * Records the end of a call, unless this link or an earlier one has recorded it. Returns in how
 * many replies in a row it had this result.
 */
export function recordEnd(
  run: Run,
  one: StartedCall,
  end: CallEnd,
  shownTools: ReadonlySet<string>,
): number | undefined {
  return end.isRecorded === true ? end.repeats : recordCall(run, one, end, shownTools);
}

/** The results of the calls for the model, once all have ended. */
export async function resultsOf(
  run: Run,
  begun: readonly BegunCall[],
  shownTools: Set<string>,
): Promise<readonly CallResult[]> {
  const ends = await Promise.all(
    begun.map(async (one) => (one.kind === 'started' ? one.pending : null)),
  );
  return begun.flatMap((one, index) => {
    if (one.kind === 'settled') return [one.result];
    const end = ends[index];
    return end == null ? [] : [readCall(run, one.call, end, shownTools)];
  });
}

/**
 * The end of a call that began; null while it waits for a person. One that has just come back from
 * its activity may do either.
 */
export async function endOf(run: Run, one: BegunCall): Promise<CallEnd | null> {
  if (one.kind !== 'started') return null;
  const isWaiting = (): boolean => !hasEnded(run, one.call.callId);
  if (isWaiting()) return null;
  await Promise.race([one.pending, run.host.waits.until(isWaiting)]);
  return isWaiting() ? null : { startedAt: one.startedAt, ...(await one.pending) };
}
