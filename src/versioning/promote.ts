/**
 * Gives new runs to a version.
 *
 * I1  Runs that are pinned to another version stay there until they hand over.
 * I2  Runs without a version move with their next task, in the middle of a link. So a fleet whose
 *     workers had no version is promoted only when no such worker is left, or by force.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { grpcCodeOf } from '../client/connection/service-errors.ts';
import { errorText } from '../core/base/error-text.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { clip } from '../core/text/cut.ts';
import { shown } from '../core/text/shown.ts';
import {
  readQueues,
  readRouting,
  setCurrent,
  setRamp,
  type DeploymentPlace,
  type Routing,
  type VersionQueue,
} from './deployment-service.ts';
import { LIVE_MS, servedQueues, unversionedBeside } from './fleet.ts';
import { checkedBuild } from './worker-version.ts';

/** Options of `promote`. */
export interface PromoteOptions {
  /** The part of new runs that the version gets, in percent from 0 to 100; default: all of them. */
  readonly ramp?: number;
  /**
   * Promotes although workers without a version still poll, or the version does not serve every
   * task queue of the current one. Default false.
   */
  readonly force?: boolean;
}

/** What gets new runs after a promotion. */
export interface Promotion {
  readonly name: string;
  readonly build: string;
  /** Absent: it is the current version. */
  readonly ramp?: number;
  /** The build that was current before; null: workers without a version were. */
  readonly previous: string | null;
}

/** The service learns of a worker about two seconds after its start. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

/** gRPC status 5 and 9: the version, or one of its queues, is not known to have workers yet. */
const TOO_EARLY: readonly (number | undefined)[] = [5, 9];

/** Promotes a version; see `Deployment.promote`. */
export async function promote(
  place: DeploymentPlace,
  build: string,
  { ramp, force = false }: PromoteOptions = {},
): Promise<Promotion> {
  checkedBuild(build);
  checkRamp(ramp);
  const routing = await untilKnown(place, build);
  if (ramp !== undefined && routing.current === build) throw alreadyCurrent(build);
  if (!force) {
    if (routing.current === null) await requireNoUnversioned(place, build);
    else await untilServed(place, routing.current, build);
  }
  await patiently(() =>
    ramp === undefined
      ? setCurrent(place, build, force)
      : setRamp(place, { build, percent: ramp }, force),
  );
  await untilSettled(place);
  const { name } = place;
  return { name, build, previous: routing.current, ...(ramp === undefined ? {} : { ramp }) };
}

/** Until new runs are routed as asked; task queues learn of it within a second or two. */
async function untilSettled(place: DeploymentPlace): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(PAUSE_MS)) {
    if ((await readRouting(place))?.isSettled === true) return;
  }
}

function checkRamp(ramp: number | undefined): void {
  if (ramp === undefined || (ramp >= 0 && ramp <= 100)) return;
  throw new UsageError(
    'number',
    `Expected \`ramp\` to be percent from 0 to 100, got ${shown(ramp)}. Change it.`,
  );
}

function alreadyCurrent(build: string): UsageError {
  return new UsageError(
    'worker_version',
    `Expected a version beside the current one, got \`${build}\`, which is current and gets all new runs. Promote the other version to go back.`,
  );
}

/** The routing of the deployment, once the service knows the version. */
async function untilKnown(place: DeploymentPlace, build: string): Promise<Routing> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    const routing = await readRouting(place);
    const isKnown = routing?.versions.some((version) => version.build === build) ?? false;
    if (routing !== null && isKnown) return routing;
    if (Date.now() >= deadline) throw noWorker(place, build);
  }
}

function noWorker({ name }: DeploymentPlace, build: string): UsageError {
  return new UsageError(
    'no_worker',
    `Expected a version of deployment \`${name}\` with workers, got \`${build}\`, which has none. Start a worker with EVERLOOP_BUILD_ID=${build}.`,
  );
}

/**
 * Until the version serves each queue of the current one. The service routes a call to another
 * version if the version of its run does not serve the queue.
 */
async function untilServed(place: DeploymentPlace, current: string, build: string): Promise<void> {
  const needed = await servedQueues(place, current);
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    const served = (await readQueues(place, build)).map(nameOf);
    const missing = needed.map(nameOf).filter((queue) => !served.includes(queue));
    if (missing.length === 0) return;
    if (Date.now() >= deadline) {
      throw new UsageError(
        'no_worker',
        `Expected version \`${build}\` to serve every queue of the current one, got no worker for ${missing.join(', ')}. Start workers with EVERLOOP_BUILD_ID=${build} there, or promote with \`--force\`.`,
      );
    }
  }
}

/** `workflows of everloop` */
function nameOf({ kind, name }: VersionQueue): string {
  return `${kind} of ${name}`;
}

async function requireNoUnversioned(place: DeploymentPlace, build: string): Promise<void> {
  const workers = await untilQueued(place, build);
  if (workers.length === 0) return;
  const named = workers.slice(0, 5).join(', ');
  throw new UsageError(
    'unversioned_workers',
    `Expected no worker without a version on the queues of \`${build}\`, got ${workers.length}: ${named}. ` +
      'The promotion takes over all runs that have no version, in the middle of their work, and such workers could not take them back. ' +
      `Stop them and wait ${LIVE_MS / 1_000} seconds, or promote with \`--force\` (\`force: true\`).`,
  );
}

/** The workers without a version beside `build`, once the service knows a queue of it. */
async function untilQueued(place: DeploymentPlace, build: string): Promise<readonly string[]> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    const workers = await unversionedBeside(place, build);
    if (workers !== null) return workers;
    if (Date.now() >= deadline) throw noWorker(place, build);
  }
}

/** Repeats a call of the service until it knows the workers of the version. */
async function patiently(call: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!TOO_EARLY.includes(grpcCodeOf(error))) throw error;
      if (Date.now() < deadline) continue;
      const reason = clip(errorText(error), 300);
      throw new UsageError(
        'no_worker',
        `Expected the service to promote the version, got: ${reason}. Start workers that serve each task queue of the current version, or promote with \`--force\`.`,
      );
    }
  }
}
