import { describe, expect, it } from 'vitest';
import {
  heldText,
  inText,
  rulesText,
  scheduleState,
  startsText,
  whenText,
} from '../../../src/console/view/schedules.ts';

describe('a schedule in words', () => {
  it('says when it starts runs', () => {
    const times = { cron: ['0 6 * * *', '0 9 * * *'], every: [21_600_000], calendars: 1 };

    expect(whenText({ times, timeZone: 'UTC' })).toBe(
      '0 6 * * * or 0 9 * * * or every 6 h or 1 calendar',
    );
    expect(
      whenText({ times: { cron: [], every: [], calendars: 2 }, timeZone: 'Europe/Vienna' }),
    ).toBe('2 calendars (Europe/Vienna)');
    expect([inText(7_200_000, 0), inText(5, 6)]).toEqual(['in 2 h', 'now']);
  });

  it('says its state', () => {
    const of = (paused: boolean, running: readonly string[], next: readonly number[]): string =>
      scheduleState({ paused, running, next });

    expect([
      of(true, ['r'], []),
      of(false, ['r'], []),
      of(false, [], []),
      of(false, [], [1]),
    ]).toEqual(['paused', 'running', 'over', 'active']);
  });

  it('says its rules and what it has started', () => {
    expect(rulesText({ overlap: 'skip', pauseOnFailure: false, previous: false })).toBe(
      'skip: starts nothing',
    );
    expect(rulesText({ overlap: 'cancel-other', pauseOnFailure: true, previous: true })).toBe(
      'cancel-other: cancels it, pauses when a run fails, reads how the run before ended',
    );
    expect(startsText({ started: 3, skipped: 0, missed: 0 })).toBe('3 started');
    expect(startsText({ started: 3, skipped: 2, missed: 1 })).toBe(
      '3 started, 2 skipped, 1 missed',
    );
  });

  it('says what holds it up', () => {
    const held = { run: 'r', skipped: 1, waits: false, since: null };

    expect(heldText(held, 0)).toBe('The last start was skipped, because a run has been running.');
    expect(heldText({ ...held, skipped: 4, waits: true, since: 0 }, 7_200_000)).toBe(
      'The last 4 starts were skipped, because a run has waited for an answer for 2 h.',
    );
  });
});
