/** The versions of a fleet, and what became of them, as text. Pure. */
import type { DrainProgress } from '../../versioning/drain.ts';
import type { DeploymentStatus, VersionStatus } from '../../versioning/fleet.ts';
import type { Promotion } from '../../versioning/promote.ts';
import type { Rescue } from '../../versioning/rescue.ts';
import type { StayReason } from '../../versioning/stay.ts';
import { cellText, durationText, pluralText, tableText } from '../terminal/text.ts';

/** Why a run stays, after "12 runs". */
const REASONS: Readonly<Record<StayReason, string>> = {
  children: 'with children that are alive',
  calls: 'with calls in flight',
  worker: 'without a worker that takes the task (start one of this version, or rescue)',
  pinned: 'pinned there by an operator',
  asked: 'asked again',
};

/** What gets new runs after a promotion. */
export function promotionText({ name, build, ramp, previous }: Promotion): string {
  if (ramp !== undefined) {
    const rest = previous === null ? 'workers without a version' : `version ${previous}`;
    return `Version ${build} of deployment ${name} gets ${ramp} % of new runs; ${rest} the others.`;
  }
  const next =
    previous === null || previous === build
      ? ''
      : ` Runs of ${previous} stay there until they hand over: everloop deploy drain ${previous}`;
  return `Version ${build} of deployment ${name} gets all new runs.${next}`;
}

/** The versions as a table; ages are relative to `nowMs`. */
export function statusText(status: DeploymentStatus, nowMs: number): string {
  const { name, versions, unversioned, current } = status;
  if (versions.length === 0) {
    return `No versions of deployment ${name}. Start a worker with EVERLOOP_BUILD_ID.`;
  }
  const table = tableText(
    ['BUILD', 'STATE', 'WORKERS', 'OPEN RUNS', 'AGE', 'QUEUES'],
    versions.map((version) => [
      cellText(version.build),
      stateText(version),
      String(version.workers),
      String(version.openRuns),
      durationText(Math.max(0, nowMs - version.createdAt)),
      version.queues.map(cellText).join(', '),
    ]),
  );
  const { workers, openRuns } = unversioned;
  const beside =
    workers.length === 0 && openRuns === 0
      ? []
      : [
          `Without a version: ${pluralText(workers.length, 'worker')}, ${pluralText(openRuns, 'open run')}.`,
        ];
  const none = current === null ? ['No version is current: workers without one get new runs.'] : [];
  return [table, ...none, ...beside].join('\n');
}

function stateText({ state, percent }: VersionStatus): string {
  return percent === undefined ? state : `${state} ${percent} %`;
}

/** How a drain ended. */
export function drainText(progress: DrainProgress): string {
  if (progress.left > 0) return stayingText(progress);
  const { name, build, nudges } = progress;
  return `Version ${build} of deployment ${name} has no open run; ${pluralText(nudges, 'nudge')} sent.`;
}

/** Which runs are left, and why. */
export function stayingText({ build, left, staying }: DrainProgress): string {
  const lines = staying.map(({ reason, runs, ids }) => {
    const more = runs > ids.length ? ', …' : '';
    return `  ${pluralText(runs, 'run')} ${REASONS[reason]}: ${ids.map(cellText).join(', ')}${more}`;
  });
  return [`${pluralText(left, 'open run')} left on version ${build}.`, ...lines].join('\n');
}

/** What became of a rescued run. */
export function rescueText({ id, from, to }: Rescue): string {
  const origin = from === null ? 'no version' : `version ${from}`;
  return to === null
    ? `Run ${id} stays on ${origin}: no worker of the current version took it within 30 s. Start one, then run this command again.`
    : `Run ${id} moved from ${origin} to version ${to}.`;
}
