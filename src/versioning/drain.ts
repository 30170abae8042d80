/**
 * Empties a version: asks its runs to hand over, until none is left on it.
 *
 * D1  Nudge each open run of the version, at most 20 a second. A run that waits hands over at once.
 * D2  Until a minute has passed, look every two seconds whether any is left.
 * D3  Ask the service why each run stays, and nudge it again if nothing is known. The end of work in
 *     flight makes a run look by itself.
 * D4  Go on with D2.
 *
 * I1  Nothing is lost if it stops at any moment: a nudge changes nothing else in a run.
 * I2  It asks the service and never the runs, so it needs no worker of the version.
 */
import { WorkflowNotFoundError, type WorkflowExecutionInfo } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../core/base/usage-error.ts';
import { nudgeSignal } from '../workflows/messages.ts';
import { countRuns, openRunsOf, readRouting, type DeploymentPlace } from './deployment-service.ts';
import { countWorkers } from './fleet.ts';
import { readStay, type StayReason } from './stay.ts';
import { checkedBuild } from './worker-version.ts';
import { tolerant } from '../client/connection/open-connection.ts';

/** Options of `drain`. */
export interface DrainOptions {
  /** How long to go on, in milliseconds; default an hour. */
  readonly waitMs?: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
  /** Called after each round, while runs are left. */
  readonly onRound?: (progress: DrainProgress) => void;
}

/** Runs that stay for one reason. */
export interface StayingRuns {
  readonly reason: StayReason;
  readonly runs: number;
  /** Ids of the first ten. */
  readonly ids: readonly string[];
}

/** How far a version is drained. */
export interface DrainProgress {
  readonly name: string;
  readonly build: string;
  /** Open runs on the version. */
  readonly left: number;
  /** Nudges sent so far. */
  readonly nudges: number;
  /** Why runs stay, most runs first; when time is up, of the first hundred. */
  readonly staying: readonly StayingRuns[];
}

/** How a drain ended: with `left` at 0, or because time was up. */
export type DrainResult = DrainProgress;

const HOUR_MS = 3_600_000;
const ROUND_MS = 60_000;
const PAUSE_MS = 2_000;

/** At most 20 calls a second, so that a drain is no burst for the service or for the workers. */
const PACE_MS = 50;

/** The service lists a run about a second late, so that one count of 0 proves nothing. */
const ZEROS = 2;

const SHOWN_IDS = 10;

/** Runs that are asked about when time is up. */
const MAX_LATE = 100;

/** Drains a version; see `Deployment.drain`. */
export async function drain(
  place: DeploymentPlace,
  build: string,
  { waitMs = HOUR_MS, signal, onRound }: DrainOptions = {},
): Promise<DrainResult> {
  checkedBuild(build);
  await requireTarget(place, build);
  const deadline = Date.now() + waitMs;
  const isStopped = (): boolean => signal?.aborted === true;
  const isOver = (): boolean => Date.now() >= deadline || isStopped();
  let progress: DrainProgress = { name: place.name, build, left: 0, nudges: 0, staying: [] };
  progress = { ...progress, nudges: await nudgeAll(place, build, isOver) };
  for (;;) {
    const until = Math.min(Date.now() + ROUND_MS, deadline);
    const left = await untilEmpty(place, build, () => Date.now() >= until || isStopped());
    progress = { ...progress, left, staying: [] };
    if (left === 0 || isStopped()) return progress;
    const { staying, nudges } = await surveyAll(place, build, isOver);
    progress = { ...progress, staying, nudges: progress.nudges + nudges };
    if (isOver()) return progress;
    onRound?.(progress);
  }
}

/** The version must have no new runs, and another one must be there to take its runs. */
async function requireTarget(place: DeploymentPlace, build: string): Promise<void> {
  const { name } = place;
  const routing = await readRouting(place);
  if (routing === null || !routing.versions.some((version) => version.build === build)) {
    throw new UsageError(
      'worker_version',
      `Expected a version of deployment \`${name}\`, got \`${build}\`, which the service does not know. See \`everloop deploy status\`.`,
    );
  }
  const { current, ramping } = routing;
  if (current === build || ramping?.build === build) {
    const got = current === build ? 'is the current one' : 'is ramping';
    throw new UsageError(
      'worker_version',
      `Expected a version that gets no new runs, got \`${build}\`, which ${got}. Promote another one first.`,
    );
  }
  if (current === null || (await countWorkers(place, current)) > 0) return;
  throw new UsageError(
    'no_worker',
    `Expected workers of the current version \`${current}\` to take the runs, got none. Start one with EVERLOOP_BUILD_ID=${current}.`,
  );
}

/** D1; returns how many runs were nudged. */
async function nudgeAll(
  place: DeploymentPlace,
  build: string,
  isOver: () => boolean,
): Promise<number> {
  let nudges = 0;
  for await (const run of openRuns(place, build)) {
    if (isOver()) break;
    nudges += await nudge(place, run);
  }
  return nudges;
}

/** D3; when time is up it nudges nothing, and asks about the first hundred runs only. */
async function surveyAll(
  place: DeploymentPlace,
  build: string,
  isOver: () => boolean,
): Promise<Pick<DrainProgress, 'nudges' | 'staying'>> {
  const ids = new Map<StayReason, string[]>();
  let [asked, nudges] = [0, 0];
  for await (const run of openRuns(place, build)) {
    if (isOver() && asked >= MAX_LATE) break;
    asked += 1;
    const reason = await readStay(place.client, run);
    if (reason === null) continue;
    ids.set(reason, [...(ids.get(reason) ?? []), run.workflowId]);
    if (reason === 'asked' && !isOver()) nudges += await nudge(place, run);
  }
  const staying = [...ids].map(([reason, all]) => ({
    reason,
    runs: all.length,
    ids: all.slice(0, SHOWN_IDS),
  }));
  return { nudges, staying: staying.toSorted((a, b) => b.runs - a.runs) };
}

/** The open runs of a version, at most 20 a second. */
async function* openRuns(
  { client, name }: DeploymentPlace,
  build: string,
): AsyncGenerator<WorkflowExecutionInfo> {
  for await (const run of tolerant(client).workflow.list({ query: openRunsOf(name, build) })) {
    const pace = sleep(PACE_MS);
    yield run;
    await pace;
  }
}

/** Nudges a run, whichever link it is in; 0 if it has ended. */
async function nudge({ client }: DeploymentPlace, run: WorkflowExecutionInfo): Promise<0 | 1> {
  try {
    await client.workflow.getHandle(run.workflowId).signal(nudgeSignal);
    return 1;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 0;
    throw error;
  }
}

/** D2: the number of runs that are left, when it is 0 or `isOver`. */
async function untilEmpty(
  place: DeploymentPlace,
  build: string,
  isOver: () => boolean,
): Promise<number> {
  for (let zeros = 0; ; await sleep(PAUSE_MS)) {
    const left = await countRuns(place, openRunsOf(place.name, build));
    zeros = left === 0 ? zeros + 1 : 0;
    if (zeros >= ZEROS || (left > 0 && isOver())) return left;
  }
}
