/** `everloop schedule`: what it asks the client for, and what it writes. */
import { describe, expect, it } from 'vitest';
import type { ScheduleHandle } from '../../src/client/schedule-handle.ts';
import type { ScheduleView } from '../../src/client/schedule-view.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { cli, fakeRun, STEP, type CliResult } from './cli-fixture.ts';

const at = (text: string): Date => new Date(text);
const RUN = 'nightly-2026-11-23T05:00:00Z';

const VIEW: ScheduleView = {
  id: 'nightly',
  agent: 'clerk',
  task: 'Digest of {{schedule.date}}',
  times: { cron: ['0 6 * * MON-FRI'], every: [21_600_000], calendars: 1 },
  timeZone: 'Europe/Vienna',
  overlap: 'skip',
  catchupWindowMs: 3_600_000,
  pauseOnFailure: true,
  previous: true,
  paused: false,
  note: null,
  next: ['2026-11-24T05:00:00Z', '2026-11-25T05:00:00Z', '2026-11-26T05:00:00Z'].map(at),
  recent: [{ time: at('2026-11-23T05:00:00Z'), startedAt: at('2026-11-23T05:00:00Z'), run: RUN }],
  running: [RUN],
  started: 12,
  skipped: 3,
  missed: 0,
  createdAt: at('2026-11-01T00:00:00Z'),
  updatedAt: null,
  heldBy: { run: RUN, skipped: 3, waits: true, since: at('2026-11-23T05:01:00Z') },
};

const SHOWN = `id      nightly
agent   clerk
task    Digest of {{schedule.date}}
when    0 6 * * MON-FRI or every 6 h 0 min or 1 calendar (Europe/Vienna)
rules   overlap skip, catch-up 1 h 0 min, pauses when a run fails, previous
state   running 1
starts  12 started, 3 skipped, 0 missed
next    2026-11-24T05:00:00.000Z
        2026-11-25T05:00:00.000Z
last    ${RUN}
The last 3 starts were skipped, run ${RUN} has waited for an answer since 2026-11-23T05:01:00.000Z.
`;

/** Runs a command; `asked` has what it asked the client for. */
async function run(
  argv: readonly string[],
  parts: Partial<ScheduleHandle> = {},
  view: ScheduleView = VIEW,
): Promise<CliResult & { readonly asked: readonly unknown[] }> {
  const asked: unknown[] = [];
  const note =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<void> => {
      asked.push([name, ...args]);
    };
  const handle = {
    id: 'nightly',
    describe: async () => view,
    pause: note('pause'),
    resume: note('resume'),
    update: note('update'),
    delete: note('delete'),
    backfill: async (options: unknown) => {
      asked.push(['backfill', options]);
      return 2;
    },
    trigger: async (options: unknown) => {
      asked.push(['trigger', options]);
      return fakeRun(RUN, { result: async () => STEP });
    },
    runs: async () => [],
    ...parts,
  } as unknown as ScheduleHandle;
  const schedules: Everloop['schedules'] = {
    create: async (id, options) => {
      asked.push(['create', id, options]);
      return handle;
    },
    attach: () => handle,
    list: async () => [view],
  };
  const agents: Everloop['agents'] = async () => ({ agents: [], silent: [], more: 0 });
  return { ...(await cli(['schedule', ...argv], { everloop: { schedules, agents } })), asked };
}

describe('schedule', () => {
  it('creates one from its options', async () => {
    const words =
      'create nightly clerk Digest --cron|0 6 * * *|--cron @daily --tz Europe/Vienna --overlap buffer-one --previous --limit costUsd=1 --tenant acme --paused --context {"a":1} --catchup 10m --pause-on-failure'
        .split('|')
        .flatMap((part, at) => (at === 1 ? [part] : part.split(' ')));
    const { exitCode, asked } = await run(words);

    expect({ exitCode, asked }).toEqual({
      exitCode: 0,
      asked: [
        [
          'create',
          'nightly',
          {
            agent: 'clerk',
            task: 'Digest',
            tenant: 'acme',
            cron: ['0 6 * * *', '@daily'],
            timeZone: 'Europe/Vienna',
            overlap: 'buffer-one',
            previous: true,
            limits: { costUsd: 1 },
            paused: true,
            context: { a: 1 },
            catchupWindow: '10m',
            pauseOnFailure: true,
          },
        ],
      ],
    });
  });

  it('shows one, and what holds it up', async () => {
    expect((await run(['show', 'nightly', '--next', '2'])).stdout).toBe(SHOWN);
    const { stdout } = await run(['show', 'nightly', '--json']);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(VIEW)));
  });

  it.each([
    {
      heldBy: { run: RUN, skipped: 1, waits: true, since: null },
      text: `The last start was skipped, run ${RUN} has waited for an answer.`,
    },
    {
      heldBy: { run: RUN, skipped: 2, waits: false, since: at('2026-11-23T05:00:00Z') },
      text: `The last 2 starts were skipped, run ${RUN} has been running since 2026-11-23T05:00:00.000Z.`,
    },
  ])('says $text', async ({ heldBy, text }) => {
    const { stdout } = await run(['show', 'nightly'], {}, { ...VIEW, heldBy });

    expect(stdout.trimEnd().split('\n').at(-1)).toBe(text);
  });

  it('names what it could not look at, beside the others', async () => {
    const { stdout, exitCode } = await cli(['schedule', 'ls'], {
      everloop: {
        schedules: {
          list: async () => [{ id: 'stuck', problem: 'The workflow is stuck.' }],
        } as unknown as Everloop['schedules'],
      },
    });

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/stuck +- +- +- +unread +The workflow is stuck\./);
  });

  it('lists all', async () => {
    expect((await run(['ls'])).stdout).toBe(
      'ID       AGENT  WHEN                                                              NEXT                      STATE      TASK\n' +
        'nightly  clerk  0 6 * * MON-FRI or every 6 h 0 min or 1 calendar (Europe/Vienna)  2026-11-24T05:00:00.000Z  running 1  Digest of {{schedule.date}}\n',
    );
    const paused = { ...VIEW, paused: true, note: 'holidays' };
    expect((await run(['ls'], {}, paused)).stdout).toMatch(/ -  +paused /);
    expect((await run(['show', 'nightly'], {}, paused)).stdout).toContain('paused (holidays)');
  });

  it.each([
    {
      argv: ['pause', 'nightly', 'holidays'],
      asked: ['pause', 'holidays'],
      stdout: 'Paused schedule nightly.\n',
    },
    {
      argv: ['resume', 'nightly'],
      asked: ['resume', undefined],
      stdout: 'Resumed schedule nightly.\n',
    },
    { argv: ['rm', 'nightly'], asked: ['delete'], stdout: 'Deleted schedule nightly.\n' },
    {
      argv: ['backfill', 'nightly', '--from', '2026-05-01', '--until', '2026-05-02'],
      asked: ['backfill', { from: '2026-05-01', until: '2026-05-02' }],
      stdout: 'Starts 2 runs of schedule nightly.\n',
    },
    {
      argv: ['trigger', 'nightly', '--overlap', 'allow-all'],
      asked: ['trigger', { overlap: 'allow-all' }],
      stdout: `${RUN}\n`,
    },
    {
      argv: ['trigger', 'nightly', '--wait'],
      asked: ['trigger', {}],
      stdout: `${JSON.stringify(STEP.value).replaceAll('"', '')}\n`,
    },
    {
      argv: ['update', 'nightly', '--every', '6h', '--no-previous', '--task', 'New'],
      asked: ['update', { every: '6h', previous: false, task: 'New' }],
      stdout: SHOWN.replace(
        '        2026-11-25T05:00:00.000Z\n',
        '        2026-11-25T05:00:00.000Z\n        2026-11-26T05:00:00.000Z\n',
      ),
    },
  ])('does $argv', async ({ argv, asked, stdout }) => {
    const done = await run(argv);

    expect({ ...done, stderr: '', connects: [] }).toEqual({
      exitCode: 0,
      asked: [asked],
      stdout,
      stderr: '',
      connects: [],
    });
  });

  it('says that nothing was started', async () => {
    const { exitCode, stdout } = await run(['trigger', 'nightly'], { trigger: async () => null });

    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: 'Started no run: another one goes on.\n',
    });
  });

  it('says that no worker has the agent yet', async () => {
    const { stderr } = await cli(['schedule', 'create', 'n', 'clerck', 'Go', '--every', '6h'], {
      everloop: {
        schedules: {
          create: async () => ({ describe: async () => VIEW }) as unknown as ScheduleHandle,
          attach: () => {
            throw new Error('unexpected');
          },
          list: async () => [],
        },
        agents: async () => ({ agents: [{ name: 'clerk' }], silent: [] }) as never,
      },
    });

    expect(stderr).toBe('No worker serves an agent clerck yet: runs wait for one.\n');
  });
});
