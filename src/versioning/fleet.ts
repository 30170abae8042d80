/** The workers and the runs of a deployment, version by version. */
import { inTurns } from '../client/connection/in-turns.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import {
  countRuns,
  openRunsOf,
  readPollers,
  readQueues,
  readRouting,
  type DeploymentPlace,
  type Poller,
  type Routing,
  type VersionQueue,
  type VersionState,
} from './deployment-service.ts';

/** One version of a fleet. */
export interface VersionStatus {
  readonly build: string;
  readonly state: VersionState;
  /** The part of the new runs that it gets, if it is ramping. */
  readonly percent?: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Processes that have polled within the last 70 seconds. */
  readonly workers: number;
  /** The task queues that its workers have ever polled. */
  readonly queues: readonly string[];
  /** Open runs that are pinned to it. */
  readonly openRuns: number;
}

/** A fleet: the versions of one deployment, and workers without a version beside them. */
export interface DeploymentStatus {
  readonly name: string;
  /** The build that gets new runs; null: workers without a version get them. */
  readonly current: string | null;
  /** Newest first. */
  readonly versions: readonly VersionStatus[];
  /** On the task queues of these versions. */
  readonly unversioned: {
    /** Identities of processes that have polled within the last 70 seconds. */
    readonly workers: readonly string[];
    /** Open runs that no version has taken yet. */
    readonly openRuns: number;
  };
}

/** A poll that finds no task ends after a minute, so a live worker was seen within this time. */
export const LIVE_MS = 70_000;

/** The fleet; without versions when the service does not know the deployment. */
export async function readFleet(place: DeploymentPlace): Promise<DeploymentStatus> {
  const { name } = place;
  const routing: Routing = (await readRouting(place)) ?? {
    current: null,
    ramping: null,
    versions: [],
    isSettled: true,
  };
  const { current, ramping, versions } = routing;
  const queues = await inTurns(versions, ({ build }) => readQueues(place, build));
  const pollers = await livePollers(place, queues.flat());
  const counts = await inTurns(versions, ({ build }) => countRuns(place, openRunsOf(name, build)));
  const workers = unversionedOf(pollers);
  return {
    name,
    current,
    versions: versions.map((version, index) => ({
      ...version,
      ...(ramping?.build === version.build ? { percent: ramping.percent } : {}),
      workers: workersOf(pollers, name, version.build).length,
      queues: [...new Set((queues[index] ?? []).map((queue) => queue.name))],
      openRuns: counts[index] ?? 0,
    })),
    unversioned: { workers, openRuns: await countUnversioned(place, queues.flat()) },
  };
}

/**
 * Identities of the live workers without a version on the queues of a version; null as long as the
 * service knows none of its queues. It learns of them one by one, so each is looked at for both
 * kinds of work.
 */
export async function unversionedBeside(
  place: DeploymentPlace,
  build: string,
): Promise<readonly string[] | null> {
  const queues = await readQueues(place, build);
  if (queues.length === 0) return null;
  const both = queues.flatMap(({ name }): VersionQueue[] => [
    { name, kind: 'workflows' },
    { name, kind: 'activities' },
  ]);
  return unversionedOf(await livePollers(place, both));
}

/** The queues that live workers of a version poll. */
export async function servedQueues(
  place: DeploymentPlace,
  build: string,
): Promise<readonly VersionQueue[]> {
  const queues = await readQueues(place, build);
  const polled = await inTurns(queues, async (queue) => {
    const pollers = await livePollers(place, [queue]);
    return workersOf(pollers, place.name, build).length > 0;
  });
  return queues.filter((_queue, index) => polled[index] === true);
}

/** Number of live workers of a version. */
export async function countWorkers(place: DeploymentPlace, build: string): Promise<number> {
  const pollers = await livePollers(place, await readQueues(place, build));
  return workersOf(pollers, place.name, build).length;
}

async function livePollers(
  place: DeploymentPlace,
  queues: readonly VersionQueue[],
): Promise<readonly Poller[]> {
  const distinct = new Map(queues.map((queue) => [`${queue.kind} ${queue.name}`, queue]));
  const pollers = await inTurns([...distinct.values()], (queue) => readPollers(place, queue));
  const oldest = Date.now() - LIVE_MS;
  return pollers.flat().filter(({ seenAt }) => seenAt >= oldest);
}

function workersOf(pollers: readonly Poller[], name: string, build: string): readonly string[] {
  const own = pollers.filter(({ version }) => version?.name === name && version.build === build);
  return [...new Set(own.map(({ identity }) => identity))];
}

function unversionedOf(pollers: readonly Poller[]): readonly string[] {
  const own = pollers.filter(({ version }) => version === null);
  return [...new Set(own.map(({ identity }) => identity))];
}

async function countUnversioned(
  place: DeploymentPlace,
  queues: readonly VersionQueue[],
): Promise<number> {
  const names = [...new Set(queues.map(({ name }) => name))];
  if (names.length === 0) return 0;
  const listed = names.map((name) => `'${name.replaceAll(/['\\]/g, (each) => `\\${each}`)}'`);
  return countRuns(
    place,
    `WorkflowType = '${AGENT_WORKFLOW}' AND ExecutionStatus = 'Running' AND ` +
      `TaskQueue IN (${listed.join(', ')}) AND TemporalWorkerDeploymentVersion IS NULL`,
  );
}
