/** A world in which nothing is wrong, for the checks of `everloop doctor`, and parts to change in it. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DoctorWorld } from '../../src/doctor/checks/check.ts';
import type {
  DoctorService,
  OpenRun,
  RunAnswer,
  SeenWorker,
} from '../../src/doctor/checks/doctor-service.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { runDoctor, type DoctorFinding } from '../../src/doctor/run-doctor.ts';
import type { DeploymentStatus, VersionStatus } from '../../src/versioning/fleet.ts';
import { readConfig } from '../../src/worker/config/config.ts';

/** The time in this world. */
export const NOW: number = Date.parse('2026-03-10T09:00:00Z');

const DAY_MS = 86_400_000;

const EMPTY_FLEET: DeploymentStatus = {
  name: 'everloop',
  current: null,
  versions: [],
  unversioned: { workers: [], openRuns: 0 },
};

/** What a worker's identity says. */
export interface WorkerParts {
  readonly agents?: string;
  readonly version?: string;
  readonly node?: string;
  readonly sdk?: string;
  readonly build?: string;
}

/** A worker that polled a second ago. */
export function worker({ agents = '1a2b3c4d', ...parts }: WorkerParts = {}): SeenWorker {
  const { version: release = '0.1.0', node = '22', sdk = '1.24.0', build } = parts;
  return {
    identity: `1@host/node-${node}/everloop-${release}/${build ?? '-'}/${agents}`,
    version: build === undefined ? null : { name: 'everloop', build },
    sdk: build === undefined ? sdk : null,
    seenAt: NOW - 1_000,
  };
}

/** An open run that waits. */
export function openRun(fields: Partial<OpenRun> = {}): OpenRun {
  const run = { id: 'clerk-7', agent: 'clerk', waitsForPerson: false, events: 20, bytes: 9_000 };
  return { ...run, task: null, ...fields };
}

/** A version with a worker and without runs. */
export function version(fields: Partial<VersionStatus>): VersionStatus {
  const idle = { build: 'a', state: 'draining', createdAt: NOW, workers: 1, queues: [] } as const;
  return { ...idle, openRuns: 0, ...fields };
}

/** A service at which nothing is wrong, but for what is given. */
export function service(fields: Partial<DoctorService> = {}): DoctorService {
  return {
    namespace: 'default',
    retentionMs: async () => 7 * DAY_MS,
    clock: async () => ({ least: -300, most: 200 }),
    searchAttributes: async () =>
      new Map([
        ['EverloopAgent', 'Keyword'],
        ['EverloopState', 'Keyword'],
        ['EverloopTenant', 'Keyword'],
      ]),
    workers: async () => [worker()],
    openRuns: async () => [],
    taskFailure: async () => null,
    handoverAdvice: async () => ({ isDue: false, since: null }),
    answers: async () => new Map(),
    deployment: async () => EMPTY_FLEET,
    seen: async () => ({ open: 0, described: 0, asked: 0 }),
    ...fields,
  };
}

/** A world in which nothing is wrong, but for what is given. */
export function world(fields: Partial<DoctorWorld> = {}): DoctorWorld {
  return {
    env: {},
    cwd: tmpdir(),
    config: readConfig({}),
    now: NOW,
    service: service(),
    noServer: '',
    isOwnServer: true,
    models: [],
    timeZone: 'UTC',
    hasLibc: true,
    ...fields,
  };
}

/** A world whose service differs. */
export function served(fields: Partial<DoctorService>): Partial<DoctorWorld> {
  return { service: service(fields) };
}

/** A world with this fleet. */
export function fleet(
  fields: Partial<DeploymentStatus>,
  others: Partial<DoctorService> = {},
): Partial<DoctorWorld> {
  return served({ deployment: async () => ({ ...EMPTY_FLEET, ...fields }), ...others });
}

/** A world with one open run. */
export function runs(run: OpenRun, fields: Partial<DoctorService> = {}): Partial<DoctorWorld> {
  return served({ openRuns: async () => [run], ...fields });
}

/** A world with an open run that says this. */
export function answering(fields: Partial<RunAnswer>): Partial<DoctorWorld> {
  const answer = { waitsFor: [], unreadInputs: 0, deadlines: [], ...fields };
  return runs(openRun(), { answers: async () => new Map([['clerk-7', answer]]) });
}

/** What the check with this code finds. */
export async function found(
  code: string,
  given: DoctorWorld,
  fix = false,
): Promise<readonly DoctorFinding[]> {
  const checks = CHECKS.filter((check) => check.code === code);
  expect(checks).toHaveLength(1);
  return (await runDoctor(given, { fix, checks })).findings;
}

/** A project with these files, by path, in a new folder within `folder`. */
export async function project(
  folder: string,
  files: { readonly [path: string]: string },
): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'project-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(cwd, path, '..'), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  return cwd;
}
