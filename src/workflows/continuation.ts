/**
 * Continue-as-new: how a run outlives the history limit of one workflow execution.
 *
 * I1  It happens only when the loop returned `handover`: between iterations, or in a turn that
 *     waits only for people, with nothing in flight.
 * I2  After the decision no event is recorded, so the archived pages are complete.
 * I3  Inputs and adjustments that arrive meanwhile are handed over; none is lost or doubled.
 * I4  A state that does not fit ends the run with a typed failure, never with a retried task. The
 *     loop has compacted it by then, if the agent has strategies: see L5 in loop.ts.
 * I5  A link that a worker of a fleet with versions runs stays on its version. A run moves to the
 *     current version by a hand-over, and only by one.
 * I6  A cancel that arrives meanwhile ends the run here at once: the service forgets its own kind
 *     of cancel when a run continues as new, and a run that ends does not wait for a slow archive.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  makeContinueAsNewFunc,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { Ending } from '../core/run/ending.ts';
import { cancelEnding } from '../core/loop/loop.ts';
import type { Run } from '../core/run/run.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { archiveOptions } from './attempts/activity-options.ts';
import { isOnOldVersion } from './recorded/recorded.ts';
import type { Session } from './session.ts';
import type { Handover } from './start.ts';

/** Hands the run over and never returns, or says how it ends instead. */
export async function handOver(
  session: Session,
  run: Run,
  runtime: ActivityRuntime,
): Promise<Ending> {
  session.host?.flush();
  await archive(session, run, runtime);
  const handedOff = session.callbacks.handOff();
  if (handedOff !== undefined) await handedOff;
  await condition(allHandlersFinished);
  const { cancel } = session.mailbox.peek();
  if (cancel !== null) return cancelEnding(run, cancel);
  const handover: Handover = {
    v: 1,
    kind: 'handover',
    state: run.state,
    inbox: session.mailbox.peek(),
    runtime,
    previous: workflowInfo().runId,
    putOff: session.deferredAdjustments,
  };
  const bytes = byteSize(handover as unknown as Json);
  const { handover: most } = session.sizes;
  if (bytes > most) {
    const cause = `Expected a state of at most ${most} bytes to hand over, got ${bytes}. Set up compaction or external storage.`;
    return { kind: 'error', code: 'state_too_large', cause };
  }
  return continueRun(handover);
}

/**
 * Continues as new: on the current version of the workers if that changed since this link began,
 * else on the version of this link.
 */
function continueRun(handover: Handover): Promise<never> {
  const isUpgrade = isOnOldVersion();
  const versioning = isUpgrade ? { initialVersioningBehavior: 'AUTO_UPGRADE' as const } : {};
  return makeContinueAsNewFunc(versioning)(handover);
}

/** Archives the pages of this link. */
async function archive(session: Session, run: Run, runtime: ActivityRuntime): Promise<void> {
  const { archiveTranscript } = proxyActivities<EverloopActivities>(archiveOptions(runtime));
  const { firstEvent, firstEntry } = session.log;
  const { runId } = run.state;
  const scope = new CancellationScope({ cancellable: true });
  const isCanceled = (): boolean => session.mailbox.peek().cancel !== null;
  void condition(isCanceled).then(() => scope.cancel());
  try {
    const order = { runId, link: session.link, firstEvent, firstEntry };
    await scope.run(() => archiveTranscript(order));
  } catch (error) {
    // For a run that ends here this is the last link, whose pages are read by query.
    if (isCanceled()) return;
    // The pages stay readable by query until the service forgets this execution.
    log.warn('The pages of this link were not archived', { error: String(error) });
  }
}
