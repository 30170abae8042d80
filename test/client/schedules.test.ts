/** Schedules before any service is asked: what is refused, in which words. */
import { describe, expect, it } from 'vitest';
import type { Client } from '@temporalio/client';
import type { UsageError } from '../../src/core/base/usage-error.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import { scheduledRun, scheduleInput } from '../../src/client/schedules/schedule-input.ts';
import { durationMsOf, specOf, timeOf } from '../../src/client/schedules/schedule-times.ts';

/** A client whose service must not be asked. */
const everloop = createEverloop({
  client: { options: {}, schedule: { getHandle: () => ({}) } } as unknown as Client,
});

const GOOD = { agent: 'clerk', task: 'Go', cron: '0 6 * * *' };

async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'nothing',
    ({ code, message }: UsageError) => `${code}: ${message}`,
  );
}

describe('a new schedule', () => {
  it.each([
    {
      given: {},
      id: '',
      message:
        'invalid_input: Expected the id of a schedule to be text of 1 to 200 characters, got "". Choose another.',
    },
    {
      given: {},
      id: 'é'.repeat(201),
      message: `invalid_input: Expected the id of a schedule to be text of 1 to 200 characters, got "${'é'.repeat(199)}…. Choose another.`,
    },
    {
      given: { cron: undefined },
      message:
        'schedule_time: Expected at least one of `cron`, `every` and `calendars`, got none. Say when runs begin.',
    },
    {
      given: { cron: [] },
      message:
        'schedule_time: Expected `cron` to be a text such as `0 6 * * MON-FRI`, or a list of them, got []. Change it.',
    },
    {
      given: { cron: 'CRON_TZ=Europe/Vienna 0 6 * * *' },
      message:
        'schedule_time: Expected `cron` without a time zone, got "CRON_TZ=Europe/Vienna 0 6 * * *". Put the zone into `timeZone`.',
    },
    {
      given: { every: '6 hours' },
      message:
        'schedule_time: Expected `every` to be a time such as 90s, 30m, 6h or 1d, or milliseconds, got "6 hours". Change it.',
    },
    {
      given: { every: 0 },
      message:
        'schedule_time: Expected `every` to be a time such as 90s, 30m, 6h or 1d, or milliseconds, got 0. Change it.',
    },
    {
      given: { every: '1h', offset: '2h' },
      message:
        'schedule_time: Expected `offset` to be less than `every`, got "2h" beside "1h". Change it.',
    },
    {
      given: { calendars: [{ hours: 6 }] },
      message:
        'schedule_time: Expected `calendars` to be a list of calendars such as { hour: 6, dayOfWeek: "MONDAY" }, got [{"hours":6}]. Change it.',
    },
    {
      given: { startAt: 'tomorrow' },
      message:
        'schedule_time: Expected `startAt` to be a Date, an ISO time or milliseconds since 1970, got "tomorrow". Change it.',
    },
    {
      given: { overlap: 'never' },
      message:
        'invalid_input: Expected `overlap` to be one of skip, buffer-one, buffer-all, cancel-other, terminate-other, allow-all, got "never". Choose one of them.',
    },
    {
      given: { catchupWindow: '9s' },
      message:
        'schedule_time: Expected `catchupWindow` to be a time such as 90s, 30m, 6h or 1d, or milliseconds, of at least 10 s, got "9s". Change it.',
    },
    {
      given: { pauseOnFailure: 'yes', crom: '* * * * *' },
      message:
        'invalid_input: Expected `pauseOnFailure` to be true or false, got "yes". Change it.\nExpected an option of a schedule, got `crom`. Did you mean `cron`?',
    },
    {
      given: { previous: true, overlap: 'allow-all' },
      message:
        'invalid_input: Expected an `overlap` by which a run begins after the one before, because `previous` is true, got `allow-all`. Choose another, or leave out `previous`.',
    },
    {
      given: { task: '  ' },
      message:
        'invalid_input: Expected a task with text or media, got an empty one. Say what to do.',
    },
    {
      given: { task: 'Digest of {{day}}', context: { topic: 'tea', _key: 'k' } },
      message:
        'invalid_input: Expected placeholders of `task` to name schedule.id, schedule.time, schedule.date, topic, got `{{day}}`. Choose one of them.',
    },
    {
      given: { task: '{{previous.value}}' },
      message:
        'invalid_input: Expected placeholders of `task` to name schedule.id, schedule.time, schedule.date, got `{{previous.value}}`. Set `previous: true`.',
    },
    {
      given: { task: '{{schedule.hour}}' },
      message:
        'invalid_input: Expected placeholders of `task` to name schedule.id, schedule.time, schedule.date, got `{{schedule.hour}}`. Choose one of them.',
    },
    {
      given: { context: { previous: 1 } },
      message:
        'invalid_input: Expected `context` without the names schedule and previous, which the schedule sets, got `previous`. Rename it.',
    },
    {
      given: { compiled: { v: 2 } },
      message:
        'invalid_input: Expected what `compileAgent` returns, got {"v":2}. Compile the agent first.',
    },
    {
      given: { task: 'x'.repeat(1_100_000) },
      message:
        'invalid_input: Expected a start of at most 1000000 bytes, got 1100042. Put large data behind a tool.',
    },
  ])('is refused: $message', async ({ id = 'nightly', given, message }) => {
    const options = { ...GOOD, ...given } as unknown as typeof GOOD;

    expect(await refusal(everloop.schedules.create(id, options))).toBe(message);
  });
});

describe('a schedule', () => {
  const schedule = everloop.schedules.attach('nightly');

  it.each([
    {
      name: 'a change to no time',
      call: () => schedule.update({ cron: null }),
      message:
        'schedule_time: Expected at least one of `cron`, `every` and `calendars`, got none. Say when runs begin.',
    },
    {
      name: 'a pause in a change',
      call: () => schedule.update({ paused: true } as object),
      message:
        'unknown_option: Expected a change of a schedule, got `paused`. Call `pause` or `resume`.',
    },
    {
      name: 'a range backwards',
      call: () => schedule.backfill({ from: '2026-05-02', until: '2026-05-01' }),
      message:
        'schedule_time: Expected `from` before `until`, got 2026-05-02T00:00:00.000Z and 2026-05-01T00:00:00.000Z. Change them.',
    },
    {
      name: 'a range of words',
      call: () => schedule.times({ from: 'May', until: '2026-05-01' }),
      message:
        'schedule_time: Expected `from` to be a Date, an ISO time or milliseconds since 1970, got "May". Change it.',
    },
    {
      name: 'too many times',
      call: () => schedule.next(11),
      message:
        'number: Expected `count` from 1 to 10, got 11. Change it, or ask `times` for a range.',
    },
    {
      name: 'a policy',
      call: () => schedule.trigger({ overlap: 'now' as 'skip' }),
      message:
        'invalid_input: Expected `overlap` to be one of skip, buffer-one, buffer-all, cancel-other, terminate-other, allow-all, got "now". Choose one of them.',
    },
    {
      name: 'a note',
      call: async () => schedule.pause(7 as unknown as string),
      message:
        'invalid_input: Expected `note` to be text of at most 1000 characters, got 7. Shorten it.',
    },
    {
      name: 'a limit of the list',
      call: () => everloop.schedules.list({ limit: 0 }),
      message: 'number: Expected `limit` from 1 up, got 0. Change it.',
    },
  ])('refuses $name', async ({ call, message }) => {
    expect(await refusal(call())).toBe(message);
  });
});

describe('the times of a schedule', () => {
  it('are read from words, numbers and dates', () => {
    expect(['90s', '30m', '6h', '1d', 5_000].map(durationMsOf)).toEqual([
      90_000, 1_800_000, 21_600_000, 86_400_000, 5_000,
    ]);
    expect(['6', '0h', -1, 1.5, null, '1e3s'].map(durationMsOf)).toEqual(Array(6).fill(undefined));
    expect(timeOf('2026-05-01')?.toISOString()).toBe('2026-05-01T00:00:00.000Z');
    expect(['1', '2026', '2026-13-01', Number.NaN].map(timeOf)).toEqual(Array(4).fill(undefined));
  });

  it('keep the words of cron in a comment, and close ranges', () => {
    expect(
      specOf({
        cron: ['0  6 * * MON-FRI # early', '@daily'],
        every: '6h',
        calendars: [{ hour: { start: 0 }, minute: [{ start: 5 }, 7], comment: 'mine' }],
      }),
    ).toEqual({
      cronExpressions: ['0 6 * * MON-FRI # cron: 0 6 * * MON-FRI', '@daily # cron: @daily'],
      intervals: [{ every: 21_600_000 }],
      calendars: [
        { hour: { start: 0, end: 0 }, minute: [{ start: 5, end: 5 }, 7], comment: 'mine' },
      ],
    });
  });
});

describe('the run of a schedule', () => {
  it('keeps the settings of its model calls', () => {
    const asked = { settings: { temperature: 0 }, toolChoice: 'required' } as const;

    const input = scheduleInput({ agent: 'clerk', task: 'Go', ...asked });

    expect(input).toMatchObject(asked);
    expect(scheduledRun(input)).toEqual({ agent: 'clerk', task: { text: 'Go' }, ...asked });
  });
});
