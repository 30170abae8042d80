/** Each check of server, fleet and runs: a world in which it fires, and one in which it does not. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { DoctorWorld } from '../../src/doctor/checks/check.ts';
import { CHECKS } from '../../src/doctor/checks.ts';
import { runDoctor } from '../../src/doctor/run-doctor.ts';
import { doctorText } from '../../src/cli/views/doctor-text.ts';
import {
  answering,
  fleet,
  found,
  NOW,
  openRun,
  runs,
  served,
  service,
  version,
  worker,
  world,
} from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

describe('a sound world', () => {
  it('has no findings', async () => {
    expect(await runDoctor(world())).toEqual({
      v: 1,
      checks: CHECKS.length,
      runs: { open: 0, described: 0, asked: 0 },
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

  it('says how many of the open runs were looked at', async () => {
    const seen = { open: 3_412, described: 200, asked: 50 };
    const report = await runDoctor(world(served({ seen: async () => seen })));

    expect(report.runs).toEqual(seen);
    expect(doctorText(report)).toContain(
      'Looked at the newest 200 of 3412 open runs, and asked 50 of them.',
    );
  });
});

/** A server that Everloop did not start. */
const FOREIGN = { isOwnServer: false } as const;

/** A world in which a check fires, and what its message holds. */
const FIRING: readonly (readonly [code: string, given: Partial<DoctorWorld>, says: string])[] = [
  ['server-unreachable', { service: null, noServer: 'Expected a server' }, 'Expected a server'],
  ['short-retention', served({ retentionMs: async () => DAY_MS }), 'got 24 hours'],
  [
    'clock-skew',
    { ...FOREIGN, ...served({ clock: async () => ({ least: 2_500, most: 2_900 }) }) },
    'at least 2.5 s ahead of it',
  ],
  [
    'clock-skew',
    { ...FOREIGN, ...served({ clock: async () => ({ least: null, most: -4_000 }) }) },
    'at least 4.0 s behind it',
  ],
  [
    'clock-skew',
    { ...FOREIGN, ...served({ clock: async () => ({ least: null, most: 900 }) }) },
    'got no poll of a worker within 2 s',
  ],
  ['unseen-limits', FOREIGN, 'history.MaxBufferedQueryCount'],
  [
    'late-suggestions',
    runs(openRun({ events: 9_000 })),
    'got none for `clerk-7`, which has 9000 events',
  ],
  [
    'missing-search-attributes',
    served({ searchAttributes: async () => new Map([['EverloopState', 'Text']]) }),
    'got none for `EverloopAgent`, `EverloopState`, which is of type Text, `EverloopTenant`',
  ],
  ['no-workers', served({ workers: async () => [] }), 'queue `everloop`, got none'],
  [
    'no-workers',
    served({ workers: async () => [{ ...worker(), seenAt: NOW - 100_000 }] }),
    'got none',
  ],
  [
    'mixed-versions',
    served({ workers: async () => [worker(), worker({ version: '0.2.0' })] }),
    'got 0.1.0 (1), 0.2.0 (1)',
  ],
  [
    'mixed-sdks',
    served({ workers: async () => [worker(), worker({ sdk: '1.25.0' })] }),
    'got 1.24.0 (1), 1.25.0 (1)',
  ],
  [
    'mixed-nodes',
    served({ workers: async () => [worker(), worker({ node: '24' })] }),
    'got 22 (1), 24 (1)',
  ],
  [
    'mixed-nodes',
    served({
      workers: async () => [worker({ build: 'v1/a' }), worker({ build: 'v1/a', node: '24' })],
    }),
    'of build `v1/a`',
  ],
  [
    'mixed-agents',
    served({ workers: async () => [worker(), worker({ agents: '99999999' })] }),
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
    'version-without-role',
    fleet(
      { versions: [version({ build: 'b', openRuns: 3, queues: ['everloop'] })] },
      { workers: async (_queue, kind) => (kind === 'workflows' ? [worker({ build: 'b' })] : []) },
    ),
    'for the activities of the task queue `everloop`, got none',
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
    answering({ waitsFor: ['worker with tool refund'] }),
    'got 1 that wait for a worker with tool refund: clerk-7',
  ],
  ['long-history', runs(openRun({ events: 41_000 })), 'got 41000 of 51200 events'],
  ['long-history', runs(openRun({ bytes: 45_000_000 })), '43 of 50 MB'],
  [
    'late-handovers',
    runs(openRun(), {
      handoverAdvice: async () => ({ isDue: true, since: NOW - 61 * MINUTE_MS }),
    }),
    'due for 61 minutes, with 20 events',
  ],
  [
    'late-questions',
    answering({ deadlines: [{ id: 'q1', deadline: NOW - 61_000 }] }),
    '`q1` of the run `clerk-7` to end at its deadline, 2026-03-10T08:58:59.000Z',
  ],
  ['full-inboxes', answering({ unreadInputs: 101 }), 'at most 100 unread inputs, got 101'],
];

describe('a check', () => {
  it.each(FIRING)('%s fires', async (code, given, says) => {
    const findings = await found(code, world(given));

    expect(findings.map((one) => one.code)).toContain(code);
    expect(findings.map(({ message }) => message).join('\n')).toContain(says);
    expect(await found(code, world())).toEqual([]);
  });

  it.each<readonly [code: string, given: Partial<DoctorWorld>]>([
    [
      'waiting-tasks',
      runs(openRun({ task: { attempt: 1, scheduledAt: NOW - 90_000, isStarted: true } })),
    ],
    ['version-without-workers', fleet({ versions: [version({ state: 'drained', workers: 0 })] })],
    // Its workers poll queues of another environment.
    [
      'version-without-role',
      fleet({ versions: [version({ state: 'current', queues: ['other'] })] }),
    ],
    [
      'version-without-role',
      fleet(
        { versions: [version({ state: 'current', queues: ['everloop'] })] },
        { workers: async () => [worker({ build: 'a' })] },
      ),
    ],
    [
      'late-suggestions',
      runs(openRun({ events: 9_000 }), {
        handoverAdvice: async () => ({ isDue: true, since: NOW }),
      }),
    ],
    [
      'late-handovers',
      runs(openRun(), {
        handoverAdvice: async () => ({ isDue: true, since: NOW - 59 * MINUTE_MS }),
      }),
    ],
    ['late-questions', answering({ deadlines: [{ id: 'q1', deadline: NOW - 30_000 }] })],
    ['full-inboxes', answering({ unreadInputs: 100 })],
    ['clock-skew', FOREIGN],
    ['missing-search-attributes', served({ searchAttributes: async () => null })],
  ])('%s does not fire for what is as it should be', async (code, given) => {
    expect(await found(code, world(given))).toEqual([]);
  });

  it.each(['mixed-versions', 'mixed-agents', 'mixed-sdks', 'mixed-nodes'])(
    '%s does not fire for workers of two builds, which share no runs',
    async (code) => {
      const both = [
        worker({ build: 'a' }),
        worker({ build: 'b', agents: '22222222', version: '0.2.0', node: '24' }),
      ];
      expect(await found(code, world(served({ workers: async () => both })))).toEqual([]);
    },
  );
});

it('is in the documentation, each with its code and area', async () => {
  const page = await readFile(new URL('../../docs/doctor.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| ([a-z]+) /gm)].map(([, code, area]) => ({
    code,
    area,
  }));

  expect(rows).toEqual(CHECKS.map(({ code, area }) => ({ code, area })));
});
