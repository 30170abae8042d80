import { describe, expect, it } from 'vitest';
import { dayIn, isTimeZone } from '../../src/client/tenants/day.ts';

const HOUR = 3_600_000;

/** The day of a moment, with its end as a text. */
function day(zone: string, at: string): readonly [string, string] {
  const { date, endsAt } = dayIn(zone, Date.parse(at));
  return [date, new Date(endsAt).toISOString()];
}

describe('a day', () => {
  it.each([
    ['UTC', '2026-11-25T13:00:00Z', '2026-11-25', '2026-11-26T00:00:00.000Z'],
    ['UTC', '2026-11-25T23:59:59.999Z', '2026-11-25', '2026-11-26T00:00:00.000Z'],
    ['UTC', '2026-11-26T00:00:00Z', '2026-11-26', '2026-11-27T00:00:00.000Z'],
    ['Europe/Vienna', '2026-11-25T23:30:00Z', '2026-11-26', '2026-11-26T23:00:00.000Z'],
    ['America/New_York', '2026-11-26T04:59:00Z', '2026-11-25', '2026-11-26T05:00:00.000Z'],
    ['Asia/Kathmandu', '2026-01-01T18:20:00Z', '2026-01-02', '2026-01-02T18:15:00.000Z'],
    // Clocks go forward: 23 hours. Clocks go back: 25 hours.
    ['Europe/Vienna', '2026-03-28T23:30:00Z', '2026-03-29', '2026-03-29T22:00:00.000Z'],
    ['Europe/Vienna', '2026-10-24T22:30:00Z', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    // Midnight does not exist; midnight comes twice.
    ['America/Sao_Paulo', '2018-11-03T12:00:00Z', '2018-11-03', '2018-11-04T03:00:00.000Z'],
    ['America/Havana', '2026-10-31T12:00:00Z', '2026-10-31', '2026-11-01T04:00:00.000Z'],
    // The day before the one that Samoa left out.
    ['Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-29', '2011-12-30T10:00:00.000Z'],
  ])('of %s at %s is %s and ends at %s', (zone, at, date, end) => {
    expect(day(zone, at)).toEqual([date, end]);
  });

  it('follows the one before without a gap, over a year with changes of clocks', () => {
    let at = Date.parse('2026-01-01T00:00:00Z');
    const lengths = new Map<number, number>();
    const dates = new Set<string>();
    for (let count = 0; count < 365; count++) {
      const { date, endsAt } = dayIn('Europe/Vienna', at);
      if (count > 0)
        lengths.set((endsAt - at) / HOUR, (lengths.get((endsAt - at) / HOUR) ?? 0) + 1);
      dates.add(date);
      at = endsAt;
    }

    expect(dates.size).toBe(365);
    expect(Object.fromEntries(lengths)).toEqual({ 23: 1, 24: 362, 25: 1 });
  });
});

it('knows which names are zones', () => {
  for (const zone of ['UTC', 'Europe/Vienna']) expect(isTimeZone(zone)).toBe(true);
  for (const zone of ['Mars/One', '', 'x'.repeat(200), 7, null])
    expect(isTimeZone(zone)).toBe(false);
});
