/** The client of operators: which version of the workers gets new runs, and which runs stay. */
import type { Client } from '@temporalio/client';
import {
  connectClient,
  type ConnectClientOptions,
  type ConnectedClient,
} from '../client/connect.ts';
import { drain, type DrainOptions, type DrainResult } from './drain.ts';
import { readFleet, type DeploymentStatus } from './fleet.ts';
import { promote, type PromoteOptions, type Promotion } from './promote.ts';
import { rescue, type Rescue } from './rescue.ts';
import { checkedName } from './worker-version.ts';

/** A deployment: the versions of one fleet of workers. */
export interface Deployment {
  /** `everloop` */
  readonly name: string;
  /** Versions, workers and open runs; needs no worker. */
  status(): Promise<DeploymentStatus>;
  /**
   * Gives new runs to a version, all of them or with `ramp` a part. Runs of other versions stay
   * there until they hand over; runs without a version move with their next task. Waits up to 30
   * seconds until the version has workers on every queue of the current one; settles when new runs
   * go there.
   *
   * @throws UsageError `no_worker` when these workers do not come, `unversioned_workers` when the fleet
   * had no version and workers without one are left, `worker_version` for a ramp of the current one.
   */
  promote(build: string, options?: PromoteOptions): Promise<Promotion>;
  /**
   * Asks the runs of a version to hand over to the current one, again and again until none is left
   * or time is up. Runs with children or calls in flight do so when these have ended.
   *
   * @throws UsageError `worker_version` for a version that is unknown, current or ramping,
   * `no_worker` when the current version has no workers.
   */
  drain(build: string, options?: DrainOptions): Promise<DrainResult>;
  /**
   * Moves one run to the current version at once, in the middle of its work and without workers of
   * its own version. Waits up to 30 seconds until a worker has taken it; if none does, the run
   * stays where it was, and `to` is null.
   *
   * @throws UsageError `run_not_found`, `run_ended`, `worker_version` when it is there already or
   * belongs to another deployment.
   */
  rescue(id: string): Promise<Rescue>;
}

/** A deployment with its own connection. */
export type ConnectedDeployment = Deployment &
  Pick<ConnectedClient, 'address' | 'namespace' | 'close'>;

/** What {@link createDeployment} takes. */
export interface DeploymentParts {
  readonly client: Client;
  /** Name of the deployment; default `everloop`. */
  readonly name?: string;
}

/** Options of {@link connectDeployment}; each overrides the environment. */
export interface ConnectDeploymentOptions extends ConnectClientOptions {
  /** Name of the deployment; default `EVERLOOP_DEPLOYMENT`, else `everloop`. */
  readonly name?: string;
}

/**
 * A deployment, over a connection that the caller owns and closes.
 *
 * @throws UsageError `worker_version` for a name that no deployment can have.
 */
export function createDeployment({ client, name: given }: DeploymentParts): Deployment {
  const name = checkedName(given);
  const place = { client, name };
  return {
    name,
    status: () => readFleet(place),
    promote: (build, options) => promote(place, build, options),
    drain: (build, options) => drain(place, build, options),
    rescue: (id) => rescue(place, id),
  };
}

/**
 * Connects to the service that the environment names, for work on a deployment.
 *
 * @throws UsageError as `connect`, and `worker_version` for a name that no deployment can have.
 * @example
 * const deployment = await connectDeployment();
 * await deployment.promote('2026-11-22.1');
 * const { left } = await deployment.drain('2026-11-15.3');
 * await deployment.close();
 */
export async function connectDeployment(
  options: ConnectDeploymentOptions = {},
): Promise<ConnectedDeployment> {
  const env = options.env ?? process.env;
  const name = checkedName(options.name ?? (env['EVERLOOP_DEPLOYMENT']?.trim() || undefined));
  const { client, ...opened } = await connectClient(options);
  return { ...createDeployment({ client, name }), ...opened };
}
