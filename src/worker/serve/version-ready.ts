/** What a worker says of its version when it is ready: whether it gets new runs. */
import type { Client } from '@temporalio/client';
import { readRouting, type Routing } from '../../versioning/deployment-service.ts';
import type { WorkerVersion } from '../../versioning/worker-version.ts';

/** The version of a worker that is ready. */
export interface VersionReady extends WorkerVersion {
  /** Which of the new runs it gets; `null`: the service did not say. */
  readonly newRuns: 'all' | 'some' | 'none' | null;
  /** What an operator has to do, if it does not get all of them. */
  readonly notice?: string;
}

/** Asks the service which new runs a version gets. */
export async function readVersion(client: Client, version: WorkerVersion): Promise<VersionReady> {
  const { name, build } = version;
  const routing = await readRouting({ client, name }).catch(() => undefined);
  if (routing === undefined) return { ...version, newRuns: null };
  const { current, ramping } = routing ?? NO_ROUTING;
  if (current === build) return { ...version, newRuns: 'all' };
  const isRamping = ramping?.build === build && ramping.percent > 0;
  const got = isRamping ? `it gets ${ramping.percent} % of new runs` : 'it gets no new runs';
  return {
    ...version,
    newRuns: isRamping ? 'some' : 'none',
    notice: `Version \`${build}\` of deployment \`${name}\` is not current: ${got}. Promote it: everloop deploy promote ${build}`,
  };
}

/** The service has not heard of the deployment. */
const NO_ROUTING: Pick<Routing, 'current' | 'ramping'> = { current: null, ramping: null };
