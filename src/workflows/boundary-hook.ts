/**
 * The probe of a replay: it shows the states of a run at its boundaries. A history that is replayed
 * under the type `agentProbe` runs the very function of its runs, with this hook in it.
 *
 * I1  Sinks are no commands, so every history of a worker replays under the probe.
 * I2  On the service the type does nothing: it ends at once, and no worker can be asked for states.
 */
import { workflowInfo } from '@temporalio/workflow';
import { PROBE_QUEUE, PROBE_WORKFLOW } from '../core/contract/messages.ts';
import type { Probe } from '../core/run/probe.ts';
import { failureOf } from './failures.ts';
import { sinks } from './sinks.ts';

function isProbe(): boolean {
  return workflowInfo().workflowType === PROBE_WORKFLOW;
}

/** @throws ApplicationFailure `invalid_input` for a probe that the service runs (I2). */
export function refuseProbe(): void {
  if (!isProbe()) return;
  const { taskQueue, unsafe } = workflowInfo();
  // The queue of a replay is a name that the worker of the replay makes up.
  if (unsafe.isReplaying && taskQueue.startsWith(PROBE_QUEUE)) return;
  throw failureOf(
    'invalid_input',
    'Expected a run of `agent`, got one of `agentProbe`, which is for replays only. Start `agent`.',
  );
}

/** The probe of this workflow; undefined unless it is replayed for its states. */
export function probeOf(workflows: string | undefined): Probe | undefined {
  if (!isProbe()) return undefined;
  return {
    boundary: (state) => sinks.probe.boundary(state, workflows),
    call: (call) => sinks.probe.call(call),
    child: (child) => sinks.probe.child(child),
  };
}
