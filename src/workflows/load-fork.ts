/** Loads a fork: a worker replays its source, and the run begins with the state that comes of it. */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { EverloopActivities, LoadedFork } from '../activities/activity-types.ts';
import { defined } from '../core/base/defined.ts';
import type { Opening } from '../core/loop/loop.ts';
import { createRunLog } from '../core/run/run-log.ts';
import type { RunState } from '../core/run/run-state.ts';
import { FORK_OPTIONS } from './attempts/activity-options.ts';
import { loadWaiting } from './load-anywhere.ts';
import type { Session } from './session.ts';
import type { Start } from './start.ts';

/** A fork, ready to run. */
export interface Fork extends Pick<LoadedFork, 'runtime'> {
  readonly state: RunState;
  readonly opening: Opening;
}

/** Loads the fork that `start` asks for, and puts its first inputs into the inbox. */
export async function loadFork(
  session: Session,
  { input, parent }: Extract<Start, { readonly kind: 'fresh' }>,
): Promise<Fork> {
  const { firstExecutionRunId, startTime } = workflowInfo();
  const order = {
    input,
    identity: {
      runId: firstExecutionRunId,
      startedAt: startTime.getTime(),
      ...defined({
        parent: parent ?? undefined,
        trace: parent === null ? input.trace : parent.trace,
      }),
    },
  };
  const loaded = await loadWaiting(session, input, {
    here: () => proxyActivities<EverloopActivities>(FORK_OPTIONS).loadFork(order),
    elsewhere: (options) => proxyActivities<EverloopActivities>(options).loadFork(order),
  });
  const { state, inputs, warnings, runtime } = loaded;
  // The events and entries before it are those of the source.
  session.log = createRunLog(state);
  for (const [index, text] of inputs.entries()) {
    session.mailbox.accept({ id: `fork:${index + 1}`, kind: 'queue', text });
  }
  return { state, runtime, opening: { warnings } };
}
