import { describe, expect, test } from 'vitest';
import { agentTime } from '../../../src/core/run/time.ts';
import { dateOfDay, dayOfDate, isoOfMoment, momentOf } from '../../../src/core/text/civil-date.ts';

const tuesday = Date.parse('2026-03-10T09:00:00Z');

describe('Time [row 37]', () => {
  test('of a fixed clock, in UTC', () => {
    const time = agentTime(tuesday);

    expect([time.now(), time.today(), time.weekday()]).toEqual([
      '2026-03-10T09:00:00.000Z',
      '2026-03-10',
      'Tuesday',
    ]);
  });

  test.each([
    { date: '2026-03-10', text: 'today' },
    { date: '2026-03-11', text: 'tomorrow' },
    { date: '2026-03-09', text: 'yesterday' },
    { date: '2026-03-12', text: 'in 2 days' },
    { date: '2026-04-01', text: 'in 22 days' },
    { date: '2026-02-28', text: '10 days ago' },
    { date: '2027-03-10', text: 'in 365 days' },
    { date: '2026-03-11T00:00:00Z', text: 'tomorrow' },
    { date: '2026-03-11T00:30:00+01:00', text: 'today' },
    { date: '2026-02-30', text: '2026-02-30' },
    { date: 'soon', text: 'soon' },
  ])('$date is $text', ({ date, text }) => {
    expect(agentTime(tuesday).relative(date)).toBe(text);
  });

  test.each([
    { at: '2026-03-10T23:59:59.999Z', tomorrow: '2026-03-11' },
    { at: '2026-03-31T23:59:59.999Z', tomorrow: '2026-04-01' },
    { at: '2026-12-31T12:00:00.000Z', tomorrow: '2027-01-01' },
    { at: '2028-02-28T00:00:00.000Z', tomorrow: '2028-02-29' },
    { at: '1969-12-31T23:00:00.000Z', tomorrow: '1970-01-01' },
  ])('the day after $at is tomorrow', ({ at, tomorrow }) => {
    expect(agentTime(Date.parse(at)).relative(tomorrow)).toBe('tomorrow');
  });

  test('in a zone, by its offset at each moment', () => {
    // Summer time begins on 2026-03-29 at 01:00 UTC.
    const summerBegins = Date.parse('2026-03-29T01:00:00Z');
    const berlin = (at: number): number => (at < summerBegins ? 60 : 120);
    const time = agentTime(Date.parse('2026-03-28T23:30:00Z'), berlin);

    expect([time.now(), time.today(), time.weekday()]).toEqual([
      '2026-03-29T00:30:00.000+01:00',
      '2026-03-29',
      'Sunday',
    ]);
    expect(time.relative('2026-03-29T21:59:00Z')).toBe('today');
    expect(time.relative('2026-03-29T22:00:00Z')).toBe('tomorrow');
    expect(agentTime(tuesday, () => -570).now()).toBe('2026-03-09T23:30:00.000-09:30');
  });
});

describe('Calendar dates', () => {
  test('agree with the clock of the engine for 400 years', () => {
    for (let day = -73_000; day < 73_000; day += 13) {
      const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
      expect([dateOfDay(day), dayOfDate(text)]).toEqual([text, day]);
    }
  });

  test('moments agree with the clock of the engine', () => {
    for (let at = -1e12; at < 3e12; at += 12_345_678_901) {
      const text = new Date(at).toISOString();
      expect([isoOfMoment(at, 0), momentOf(text)]).toEqual([text, at]);
    }
    expect(momentOf('2026-03-10T09:00+01:30')).toBe(Date.parse('2026-03-10T07:30:00Z'));
    expect(momentOf('2026-03-10T25:00Z')).toBeUndefined();
  });
});
