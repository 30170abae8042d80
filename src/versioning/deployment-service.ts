/**
 * What the service knows of a deployment: its versions, which of them gets new runs, and who polls
 * their task queues. Calls without a decision.
 */
import type { Client } from '@temporalio/client';
import { isNotFound } from '../client/connection/service-errors.ts';
import { millisecondsOf } from '../client/connection/service-time.ts';
import type { WorkerVersion } from './worker-version.ts';

/** Where a deployment is. */
export interface DeploymentPlace {
  readonly client: Client;
  /** Name of the deployment. */
  readonly name: string;
}

/** What the service does with a version. */
export type VersionState =
  | 'current'
  | 'ramping'
  /** It was never current, or no longer is and has no runs that the service knows of. */
  | 'inactive'
  /** It gets no new runs, and some of its runs are open. */
  | 'draining'
  /** It gets no new runs, and none of its runs is open; the service looks every few minutes. */
  | 'drained';

/** One version of a deployment. */
export interface KnownVersion {
  readonly build: string;
  readonly state: VersionState;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** A deployment as the service routes it. */
export interface Routing {
  /** The build that gets new runs; null: workers without a version get them. */
  readonly current: string | null;
  /** The build that gets a part of them. */
  readonly ramping: { readonly build: string; readonly percent: number } | null;
  /** Newest first. */
  readonly versions: readonly KnownVersion[];
  /** Whether all task queues follow it already. */
  readonly isSettled: boolean;
}

/** A worker that polls a task queue. */
export interface Poller {
  /** `4711@host` */
  readonly identity: string;
  /** Null: it is of no version. */
  readonly version: WorkerVersion | null;
  /** `1.24.0`, of a worker in TypeScript without a version; null: the service does not say. */
  readonly sdk: string | null;
  /** Milliseconds since 1970. */
  readonly seenAt: number;
}

/** A task queue of a version, and the kind of its tasks. */
export interface VersionQueue {
  readonly name: string;
  readonly kind: 'workflows' | 'activities';
}

/** Which enumeration value of the service means which state; 1 and 6: not yet in use. */
const STATES: Readonly<Record<number, VersionState>> = {
  2: 'current',
  3: 'ramping',
  4: 'draining',
  5: 'drained',
};

/** Values of the service for the kinds of task queues. */
const KINDS = { workflows: 1, activities: 2 } as const;

/** The value of the service for workers with a version. */
const VERSIONED = 2;

/** The value of the service for a routing that not all task queues have. */
const IN_PROGRESS = 1;

/** The build that the SDK gives a worker without a version: `@temporalio/worker@1.24.0+4f2a…`. */
const SDK_BUILD = /^@temporalio\/worker@([^+]+)\+/;

/** How the deployment is routed; null when the service does not know it. */
export async function readRouting({ client, name }: DeploymentPlace): Promise<Routing | null> {
  const { namespace } = client.options;
  try {
    const { workerDeploymentInfo: info } = await client.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: name,
    });
    const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } =
      info?.routingConfig ?? {};
    const ramped = rampingDeploymentVersion?.buildId ?? '';
    const versions = (info?.versionSummaries ?? []).map((summary) => ({
      build: summary.deploymentVersion?.buildId ?? '',
      state: STATES[summary.status ?? 0] ?? ('inactive' as const),
      createdAt: millisecondsOf(summary.createTime),
    }));
    return {
      current: currentDeploymentVersion?.buildId || null,
      ramping: ramped === '' ? null : { build: ramped, percent: rampingVersionPercentage ?? 0 },
      versions: versions.toSorted((a, b) => b.createdAt - a.createdAt),
      isSettled: info?.routingConfigUpdateState !== IN_PROGRESS,
    };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** The task queues that workers of a version have polled; none when the service forgot it. */
export async function readQueues(
  { client, name }: DeploymentPlace,
  build: string,
): Promise<readonly VersionQueue[]> {
  const { namespace } = client.options;
  const deploymentVersion = { deploymentName: name, buildId: build };
  try {
    const { versionTaskQueues } = await client.workflowService.describeWorkerDeploymentVersion({
      namespace,
      deploymentVersion,
    });
    return versionTaskQueues.flatMap(({ name: queue, type }) => {
      const kind = type === KINDS.workflows ? 'workflows' : 'activities';
      return queue === undefined || queue === null ? [] : [{ name: queue, kind } as const];
    });
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Who has polled a task queue lately; the service forgets a poller after five minutes. */
export async function readPollers(
  { client }: DeploymentPlace,
  { name, kind }: VersionQueue,
): Promise<readonly Poller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: KINDS[kind],
  });
  return pollers.map(
    ({ identity, lastAccessTime, deploymentOptions, workerVersionCapabilities }) => ({
      identity: identity ?? '',
      version:
        deploymentOptions?.workerVersioningMode === VERSIONED
          ? { name: deploymentOptions.deploymentName ?? '', build: deploymentOptions.buildId ?? '' }
          : null,
      sdk: SDK_BUILD.exec(workerVersionCapabilities?.buildId ?? '')?.[1] ?? null,
      seenAt: millisecondsOf(lastAccessTime),
    }),
  );
}

/** Number of executions that a list query of the service finds. */
export async function countRuns({ client }: DeploymentPlace, query: string): Promise<number> {
  return (await client.workflow.count(query)).count;
}

/** A list query for the open runs of a version. */
export function openRunsOf(name: string, build: string): string {
  return `TemporalWorkerDeploymentVersion = '${name}:${build}' AND ExecutionStatus = 'Running'`;
}

/** Gives all new runs to a version. */
export async function setCurrent(
  { client, name }: DeploymentPlace,
  build: string,
  ignoreMissingTaskQueues: boolean,
): Promise<void> {
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    namespace: client.options.namespace,
    deploymentName: name,
    buildId: build,
    identity: client.options.identity,
    ignoreMissingTaskQueues,
  });
}

/** Gives a part of the new runs to a version. */
export async function setRamp(
  { client, name }: DeploymentPlace,
  { build, percent }: NonNullable<Routing['ramping']>,
  ignoreMissingTaskQueues: boolean,
): Promise<void> {
  await client.workflowService.setWorkerDeploymentRampingVersion({
    namespace: client.options.namespace,
    deploymentName: name,
    buildId: build,
    percentage: percent,
    identity: client.options.identity,
    ignoreMissingTaskQueues,
  });
}
