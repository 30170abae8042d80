/**
 * The workflow that looks at a moment of a run. Clients have no workflow code, so a worker replays
 * the run for them: the service hands the question to one, and keeps the answer as its result.
 */
import { proxyActivities, setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import type { EverloopActivities, MomentOrder } from '../../activities/activity-types.ts';
import type { StateView } from '../../core/fork/state-view.ts';
import { MOMENT_OPTIONS } from '../attempts/activity-options.ts';

/** The moment that is asked for. The failures of the activity are its own. */
export async function readMoment(order: MomentOrder): Promise<StateView> {
  const { viewMoment } = proxyActivities<EverloopActivities>(MOMENT_OPTIONS);
  return viewMoment(order);
}

// Any version may answer: the replay says whether its code fits.
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, readMoment);
