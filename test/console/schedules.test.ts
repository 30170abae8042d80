import { describe, expect, it } from 'vitest';
import type { ScheduleHandle } from '../../src/client/schedule-handle.ts';
import type { ScheduleSummary, ScheduleView } from '../../src/client/schedule-view.ts';
import type { RunSummary } from '../../src/client/run-list.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';
import { consoleStage, READ_TOKEN, type ConsoleStage } from './console-stage.ts';

const DUE = new Date('2026-03-10T05:00:00Z');

const NIGHTLY: ScheduleSummary = {
  id: 'nightly',
  agent: 'clerk',
  task: 'x'.repeat(5_000),
  times: { cron: ['0 6 * * *'], every: [], calendars: 0 },
  timeZone: 'UTC',
  overlap: 'skip',
  catchupWindowMs: 60_000,
  pauseOnFailure: false,
  previous: false,
  paused: true,
  note: 'holidays',
  next: [1, 2, 3, 4].map((at) => new Date(at)),
  recent: [{ time: DUE, startedAt: DUE, run: 'nightly-1' }],
  running: [],
  started: 4,
  skipped: 2,
  missed: 1,
  createdAt: DUE,
  updatedAt: null,
};

/** A console with these schedules, and what was asked of them. */
function stageOf(
  summaries: readonly ScheduleSummary[],
  handle: Partial<ScheduleHandle> = {},
): ConsoleStage & { readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const note =
    (name: string, answer?: unknown) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([name, ...args]);
      return answer as never;
    };
  const attach = (id: string): ScheduleHandle =>
    ({
      id,
      describe: async (): Promise<ScheduleView> => {
        const found = summaries.find((one) => one.id === id);
        if (found !== undefined) return { ...found, heldBy: null };
        throw new UsageError('schedule_not_found', `Expected a schedule, got \`${id}\`.`);
      },
      pause: note('pause'),
      resume: note('resume'),
      trigger: note('trigger', { id: 'nightly-2' }),
      delete: note('delete'),
      ...handle,
    }) as ScheduleHandle;
  const stage = consoleStage([], {}, (everloop) => ({
    ...everloop,
    schedules: { ...everloop.schedules, attach, list: async () => summaries },
    attach: (id) =>
      fakeRun(id, {
        summary: async () => {
          if (id === 'gone') throw new UsageError('run_not_found', 'No run.');
          return { state: 'completed' } as RunSummary;
        },
        step: async () => ({ ...STEP, status: 'limit_exceeded' }),
      }),
  }));
  return { ...stage, calls };
}

const post = { requestId: 'request-1' };

describe('the schedules of a console', () => {
  it('are listed with their times and the end of their last run', async () => {
    const gone = { ...NIGHTLY, id: 'old', recent: [{ time: DUE, startedAt: DUE, run: 'gone' }] };
    const { ask } = stageOf([NIGHTLY, gone, { ...NIGHTLY, id: 'new', recent: [] }]);

    const { status, body } = await ask('/api/v1/schedules');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        hasMore: false,
        schedules: [
          {
            id: 'nightly',
            paused: true,
            note: 'holidays',
            next: [1, 2, 3],
            last: { run: 'nightly-1', at: DUE.getTime(), state: 'limit_exceeded' },
            missed: 1,
          },
          { id: 'old', last: { run: 'gone', state: null } },
          { id: 'new', last: null },
        ],
      },
    });
    expect(body).not.toHaveProperty('partial');
    expect(JSON.stringify(body).length).toBeLessThan(4_000);
  });

  it('are at most a hundred, and say that there are more', async () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ ...NIGHTLY, id: `s${index}` }));

    const { body } = await stageOf(many).ask('/api/v1/schedules');
    expect(body).toMatchObject({ hasMore: true });
    expect((body as { readonly schedules: object[] }).schedules).toHaveLength(100);
  });

  it('are shown one by one, with the run that holds them up', async () => {
    const heldBy = { run: 'nightly-1', skipped: 3, waits: true, since: DUE };
    const describeHeld = async (): Promise<ScheduleView> => ({ ...NIGHTLY, heldBy });

    const { ask } = stageOf([NIGHTLY], { describe: describeHeld });
    expect((await ask('/api/v1/schedules/nightly')).body).toMatchObject({
      schedule: { id: 'nightly' },
      heldBy: { run: 'nightly-1', skipped: 3, waits: true, since: DUE.getTime() },
    });
    expect(await stageOf([]).ask('/api/v1/schedules/a%2Fb')).toMatchObject({
      status: 404,
      body: { code: 'schedule_not_found', message: expect.stringContaining('a/b') },
    });
  });

  it('are paused, resumed, triggered and deleted, each with a line of the log', async () => {
    const stage = stageOf([NIGHTLY]);
    const act = (name: string, body: object): ReturnType<ConsoleStage['post']> =>
      stage.post(`/api/v1/schedules/nightly/${name}`, { ...post, ...body });

    expect(await act('pause', { note: 'holidays' })).toMatchObject({
      status: 200,
      body: { run: 'nightly', requestId: 'request-1' },
    });
    await act('pause', { note: 'holidays' });
    await act('resume', {});
    expect((await act('trigger', {})).body).toMatchObject({ started: 'nightly-2' });
    await act('delete', {});

    expect(stage.calls).toEqual([
      ['pause', 'holidays'],
      ['resume', undefined],
      ['trigger'],
      ['delete'],
    ]);
    expect(stage.lines.map(({ action, run, outcome }) => [action, run, outcome])).toEqual([
      ['pause_schedule', 'nightly', 'done'],
      ['resume_schedule', 'nightly', 'done'],
      ['trigger_schedule', 'nightly', 'done'],
      ['delete_schedule', 'nightly', 'done'],
    ]);
  });

  it('refuse who may only look, other fields, wrong texts and other origins', async () => {
    const stage = stageOf([NIGHTLY], { trigger: async () => null });
    const at = '/api/v1/schedules/nightly';

    expect(await stage.post(`${at}/delete`, post, { token: READ_TOKEN })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await stage.ask(`${at}/delete`, { method: 'POST', body: post })).toMatchObject({
      status: 403,
    });
    for (const body of ['{', [], { ...post, note: 7 }, { ...post, now: true }, { note: 'x' }]) {
      expect(await stage.post(`${at}/pause`, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      });
    }
    expect((await stage.post(`${at}/trigger`, post)).body).toMatchObject({ started: null });
    expect(await stage.post(`${at}/explode`, post)).toMatchObject({ status: 404 });
    expect(stage.calls).toEqual([]);
  });
});
