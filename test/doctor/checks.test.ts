/** Each check of `everloop doctor`: a world in which it fires, and one in which it does not. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorService, DoctorWorld, OpenRun } from '../../src/doctor/checks/check.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { runDoctor, type DoctorFinding } from '../../src/doctor/run-doctor.ts';
import type { DeploymentStatus, VersionStatus } from '../../src/versioning/fleet.ts';
import { readConfig } from '../../src/worker/config/config.ts';

const NOW = Date.parse('2026-03-10T09:00:00Z');
const DAY_MS = 86_400_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const EMPTY_FLEET: DeploymentStatus = {
  name: 'everloop',
  current: null,
  versions: [],
  unversioned: { workers: [], openRuns: 0 },
};

/** A worker that polled a second ago. */
function worker(digest = '1a2b3c4d', version = '0.1.0', build = '-') {
  return { identity: `1@host/everloop-${version}/${build}/${digest}`, seenAt: NOW - 1_000 };
}

function openRun(fields: Partial<OpenRun> = {}): OpenRun {
  return { id: 'clerk-7', agent: 'clerk', events: 20, bytes: 9_000, task: null, ...fields };
}

function version(fields: Partial<VersionStatus>): VersionStatus {
  const idle = { build: 'a', state: 'draining', createdAt: NOW, workers: 1, queues: [] } as const;
  return { ...idle, openRuns: 0, ...fields };
}

/** A service at which nothing is wrong, but for what is given. */
function service(fields: Partial<DoctorService> = {}): DoctorService {
  return {
    namespace: 'default',
    retentionMs: async () => 7 * DAY_MS,
    workers: async () => [worker()],
    openRuns: async () => [],
    taskFailure: async () => null,
    waitsFor: async () => [],
    deployment: async () => EMPTY_FLEET,
    ...fields,
  };
}

/** A world in which nothing is wrong, but for what is given. */
function world(fields: Partial<DoctorWorld> = {}): DoctorWorld {
  return {
    env: {},
    cwd: folder,
    config: readConfig({}),
    now: NOW,
    service: service(),
    noServer: '',
    hasLibc: true,
    ...fields,
  };
}

async function found(
  code: string,
  given: DoctorWorld,
  fix = false,
): Promise<readonly DoctorFinding[]> {
  const checks = CHECKS.filter((check) => check.code === code);
  expect(checks).toHaveLength(1);
  return (await runDoctor(given, { fix, checks })).findings;
}

/** A project with these files, by path. */
async function project(files: { readonly [path: string]: string }): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'project-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(cwd, path, '..'), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  return cwd;
}

describe('a sound world', () => {
  it('has no findings', async () => {
    expect(await runDoctor(world())).toEqual({
      v: 1,
      checks: CHECKS.length,
      findings: [],
      errors: 0,
    });
  });

  it('has one finding for a check that fails, and the others run', async () => {
    const broken = service({ retentionMs: () => Promise.reject(new Error('no permission')) });
    const { findings, errors } = await runDoctor(world({ service: broken }));

    expect(findings).toMatchObject([
      { code: 'short-retention', message: 'Expected the check to run, got: no permission' },
    ]);
    expect(errors).toBe(0);
  });
});

/** A world in which a check fires, and what its message holds. */
const FIRING: readonly (readonly [code: string, given: Partial<DoctorWorld>, says: string])[] = [
  ['server-unreachable', { service: null, noServer: 'Expected a server' }, 'Expected a server'],
  ['short-retention', { service: service({ retentionMs: async () => DAY_MS }) }, 'got 24 hours'],
  ['no-workers', { service: service({ workers: async () => [] }) }, 'queue `everloop`, got none'],
  [
    'no-workers',
    { service: service({ workers: async () => [{ ...worker(), seenAt: NOW - 100_000 }] }) },
    'got none',
  ],
  [
    'mixed-versions',
    { service: service({ workers: async () => [worker(), worker('1a2b3c4d', '0.2.0')] }) },
    'got 0.1.0 (1), 0.2.0 (1)',
  ],
  [
    'mixed-agents',
    { service: service({ workers: async () => [worker(), worker('99999999')] }) },
    '1a2b3c4d (1), 99999999 (1)',
  ],
  [
    'version-without-workers',
    fleet({ versions: [version({ build: 'a', state: 'current', workers: 0 })] }),
    'current version `a`',
  ],
  [
    'version-without-workers',
    fleet({ versions: [version({ build: 'b', workers: 0, openRuns: 3 })] }),
    'which has 3 open runs',
  ],
  [
    'mixed-versioning',
    fleet({ current: 'a', unversioned: { workers: ['1@host'], openRuns: 0 } }),
    'got 1 without one: 1@host',
  ],
  [
    'failing-tasks',
    runs(openRun({ task: { attempt: 3, scheduledAt: NOW, isStarted: false } }), {
      taskFailure: async () => '[TMPRL1100] Nondeterminism error',
    }),
    'tried 3 times: [TMPRL1100]',
  ],
  [
    'waiting-tasks',
    runs(openRun({ task: { attempt: 1, scheduledAt: NOW - 61_000, isStarted: false } })),
    'got 1 that still wait: clerk-7',
  ],
  [
    'waits-elsewhere',
    runs(openRun(), { waitsFor: async () => ['worker with tool refund'] }),
    'got 1 that wait for a worker with tool refund: clerk-7',
  ],
  ['long-history', runs(openRun({ events: 41_000 })), 'got 41000 of 51200 events'],
  ['long-history', runs(openRun({ bytes: 45_000_000 })), '43 of 50 MB'],
  [
    'short-grace',
    { config: readConfig({ EVERLOOP_SHUTDOWN_GRACE_MS: '1000' }) },
    'at least 30000 ms, got 1000 ms',
  ],
  ['unknown-variables', { env: { EVERLOOP_OF_TOMORROW: '1' } }, 'got `EVERLOOP_OF_TOMORROW`'],
  ['musl', { hasLibc: false }, 'such as Alpine'],
];

function fleet(fields: Partial<DeploymentStatus>): Partial<DoctorWorld> {
  return { service: service({ deployment: async () => ({ ...EMPTY_FLEET, ...fields }) }) };
}

function runs(run: OpenRun, fields: Partial<DoctorService> = {}): Partial<DoctorWorld> {
  return { service: service({ openRuns: async () => [run], ...fields }) };
}

describe('a check', () => {
  it.each(FIRING)('%s fires', async (code, given, says) => {
    const findings = await found(code, world(given));

    expect(findings.map((one) => one.code)).toContain(code);
    expect(findings.map(({ message }) => message).join('\n')).toContain(says);
    expect(await found(code, world())).toEqual([]);
  });

  it('does not fire for what is as it should be', async () => {
    const busy = openRun({ task: { attempt: 1, scheduledAt: NOW - 90_000, isStarted: true } });
    const drained = version({ state: 'drained', workers: 0 });
    expect(await found('waiting-tasks', world(runs(busy)))).toEqual([]);
    expect(await found('version-without-workers', world(fleet({ versions: [drained] })))).toEqual(
      [],
    );
    // Workers of two builds do not share runs.
    const both = [worker('11111111', '0.1.0', 'a'), worker('22222222', '0.2.0', 'b')];
    const two = world({ service: service({ workers: async () => both }) });
    expect(await found('mixed-versions', two)).toEqual([]);
    expect(await found('mixed-agents', two)).toEqual([]);
  });

  it('package-copies fires for two copies of a package that must be one', async () => {
    const one = { 'node_modules/protobufjs/package.json': '{"version": "8.8.1"}' };
    const two = {
      ...one,
      'node_modules/@other/sdk/node_modules/protobufjs/package.json': '{"version": "7.0.0"}',
    };

    expect(await found('package-copies', world({ cwd: await project(one) }))).toEqual([]);
    expect(await found('package-copies', world({ cwd: await project(two) }))).toMatchObject([
      {
        message: expect.stringMatching(/one copy of protobufjs, got 2: 8\.8\.1.*7\.0\.0/) as string,
      },
    ]);
  });
});

describe('a fix', () => {
  it('adds the data folder to .gitignore, once', async () => {
    const cwd = await project({ '.git/HEAD': '', '.gitignore': 'node_modules' });
    const given = world({ cwd });

    expect(await found('folder-not-ignored', given)).toMatchObject([{ fixable: true }]);
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules');
    expect(await found('folder-not-ignored', given, true)).toMatchObject([{ fixed: true }]);

    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n.everloop/\n');
    expect(await found('folder-not-ignored', given)).toEqual([]);
    expect(await found('folder-not-ignored', world({ cwd: await project({}) }))).toEqual([]);
  });

  it('removes a bundle that cannot be read, and no other', async () => {
    const sound = '.everloop/cache/workflows-1.json';
    const broken = '.everloop/cache/workflows-2.json';
    const cwd = await project({ [sound]: '{"v": 5, "code": "1"}', [broken]: '{"v": 5, "co' });
    const given = world({ cwd });

    expect(await found('broken-bundle-cache', given)).toMatchObject([{ fixable: true }]);
    expect(existsSync(join(cwd, broken))).toBe(true);
    expect(await found('broken-bundle-cache', given, true)).toMatchObject([{ fixed: true }]);

    expect(existsSync(join(cwd, broken))).toBe(false);
    expect(existsSync(join(cwd, sound))).toBe(true);
    expect(await found('broken-bundle-cache', given)).toEqual([]);
  });
});

it('is in the documentation, each with its code and area', async () => {
  const page = await readFile(new URL('../../docs/doctor.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| ([a-z]+) /gm)].map(([, code, area]) => ({
    code,
    area,
  }));

  expect(rows).toEqual(CHECKS.map(({ code, area }) => ({ code, area })));
});
