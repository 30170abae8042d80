/**
 * Moves one run to the current version without its old workers: for a run whose version has none
 * left, or none that can go on.
 *
 * I1  The run moves in the middle of a link, so the new code must be able to replay its history.
 * I2  Afterwards it is pinned to the version that took it, like any other run.
 * I3  A rescue that no worker answers is taken back: the run stays where it was, and no worker that
 *     comes later moves it in the middle of a link.
 */
import type { Client } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertAlive, describeRun } from '../client/connection/own-run.ts';
import { asking } from '../client/connection/service-calls.ts';
import { isNotFound } from '../client/connection/service-errors.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { nudgeSignal } from '../workflows/messages.ts';
import { readRouting, type DeploymentPlace } from './deployment-service.ts';
import type { WorkerVersion } from './worker-version.ts';

/** What became of a run that was rescued. */
export interface Rescue {
  readonly id: string;
  /** The build that it was pinned to; null if it was of no version. */
  readonly from: string | null;
  /** The build that took it; null: no worker did in time, and the run stays where it was. */
  readonly to: string | null;
}

/** A worker takes the run within a second or two. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

/** Moves a run; see `Deployment.rescue`. */
export async function rescue(
  place: DeploymentPlace,
  id: string,
  patienceMs: number = PATIENCE_MS,
): Promise<Rescue> {
  const { client } = place;
  await assertAlive(id, client);
  const { version, isMoving, pinned } = await readPlaceOf(place, id);
  const current = await requireTarget(place, id, version);
  const from = version?.build ?? null;
  if (from === current && !isMoving) throw alreadyThere(id, current);
  await override(place, id, { autoUpgrade: true });
  let isTaken = false;
  try {
    // An idle run has no task that could move.
    await asking(id, () => client.workflow.getHandle(id).signal(nudgeSignal));
    isTaken = await untilTaken(place, id, current, patienceMs);
  } finally {
    // It stays where it is now, and moves on by hand-overs only.
    await override(place, id, isTaken ? null : pinned);
  }
  // A worker may have taken it at the last moment.
  isTaken ||= (await readPlaceOf(place, id)).version?.build === current;
  return { id, from, to: isTaken ? current : null };
}

/** Whether a worker of `build` has taken the run in time. */
async function untilTaken(
  place: DeploymentPlace,
  id: string,
  build: string,
  patienceMs: number,
): Promise<boolean> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(PAUSE_MS)) {
    if ((await readPlaceOf(place, id)).version?.build === build) return true;
  }
  return false;
}

/** The current build of the deployment, which must be that of the run. */
async function requireTarget(
  place: DeploymentPlace,
  id: string,
  from: WorkerVersion | null,
): Promise<string> {
  const { name } = place;
  if (from !== null && from.name !== name) {
    throw new UsageError(
      'worker_version',
      `Expected a run of deployment \`${name}\`, got \`${id}\` of \`${from.name}\`. Name that deployment.`,
    );
  }
  const current = (await readRouting(place))?.current ?? null;
  if (current !== null) return current;
  throw new UsageError(
    'worker_version',
    `Expected deployment \`${name}\` to have a current version, got none. Promote one first: everloop deploy promote BUILD.`,
  );
}

function alreadyThere(id: string, build: string): UsageError {
  return new UsageError(
    'worker_version',
    `Expected a run of an older version, got \`${id}\`, which is on the current one, \`${build}\`. See the log of its workers.`,
  );
}

/** Where a run is. */
interface PlaceOfRun {
  /** The version that has completed its last task; null if it is of none. */
  readonly version: WorkerVersion | null;
  /** Whether an earlier rescue was cut off before its end. */
  readonly isMoving: boolean;
  /** To where an operator has pinned it; null: nowhere. */
  readonly pinned: Override | null;
}

/** How the service routes a run, whatever its workers say. */
type Override = NonNullable<
  NonNullable<
    Parameters<
      Client['workflowService']['updateWorkflowExecutionOptions']
    >[0]['workflowExecutionOptions']
  >['versioningOverride']
>;

async function readPlaceOf({ client }: DeploymentPlace, id: string): Promise<PlaceOfRun> {
  const { raw } = await describeRun(client, id);
  const { behavior, deploymentVersion, versioningOverride } =
    raw.workflowExecutionInfo?.versioningInfo ?? {};
  const isVersioned = (behavior ?? 0) !== 0;
  const { deploymentName, buildId } = deploymentVersion ?? {};
  return {
    version: isVersioned ? { name: deploymentName ?? '', build: buildId ?? '' } : null,
    isMoving: versioningOverride?.autoUpgrade === true,
    pinned: versioningOverride?.autoUpgrade === true ? null : (versioningOverride ?? null),
  };
}

/** Sets how the service routes a run; null: as its workers say. */
async function override(
  { client }: DeploymentPlace,
  id: string,
  versioningOverride: Override | null,
): Promise<void> {
  try {
    await client.workflowService.updateWorkflowExecutionOptions({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: id },
      workflowExecutionOptions: { versioningOverride },
      updateMask: { paths: ['versioning_override'] },
    });
  } catch (error) {
    // The run has ended meanwhile.
    if (!isNotFound(error)) throw error;
  }
}
