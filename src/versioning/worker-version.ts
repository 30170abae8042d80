/** The version of a worker: its deployment and its build, as the service knows them. */
import { UsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';

/** The version that all workers of a process are part of. */
export interface WorkerVersion {
  /** The deployment, which is the fleet. Default `everloop`. */
  readonly name: string;
  /** The build, such as a commit: workers of one build run the same code. */
  readonly build: string;
}

/** The deployment of workers and of operators that name none. */
export const DEFAULT_DEPLOYMENT = 'everloop';

/**
 * The service joins both into names of its own, by a period or a colon, after some forty characters;
 * these names are ids of workflows.
 */
const NAME = /^[A-Za-z0-9][\w+@/-]{0,99}$/;
const BUILD = /^[A-Za-z0-9][\w.+@/-]{0,99}$/;

/** What is wrong with the name of a deployment, as `to be …`; null if nothing is. */
export function deploymentNameProblem(name: string): string | null {
  return NAME.test(name)
    ? null
    : 'to be 1 to 100 letters, digits or `_+@/-`, with one of the first two at its beginning';
}

/** What is wrong with a build id, as `to be …`; null if nothing is. */
export function buildProblem(build: string): string | null {
  return BUILD.test(build)
    ? null
    : 'to be 1 to 100 letters, digits or `._+@/-`, with one of the first two at its beginning';
}

/** @throws UsageError `worker_version` for a name or a build that is not valid. */
export function checkedVersion({ name, build }: Partial<WorkerVersion>): WorkerVersion {
  return { name: checkedName(name), build: checkedBuild(build) };
}

/** @throws UsageError `worker_version` for a name that is not valid. */
export function checkedName(name: string = DEFAULT_DEPLOYMENT): string {
  return checked('name of a deployment', name, deploymentNameProblem);
}

/** @throws UsageError `worker_version` for a build that is not valid. */
export function checkedBuild(build: string | undefined): string {
  return checked('build of a version', build, buildProblem);
}

function checked(what: string, value: unknown, problemOf: (text: string) => string | null): string {
  const problem = typeof value === 'string' ? problemOf(value) : 'to be a text';
  if (problem === null) return value as string;
  const message = `Expected the ${what} ${problem}, got ${shown(value)}. Correct it.`;
  throw new UsageError('worker_version', message);
}
