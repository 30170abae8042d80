/** Offsets of time zones. The core must not use `Intl`, so it gets this function. */

/** The offset of a zone from UTC in ms, positive east of it, at a time in ms since 1970. */
export function zoneOffset(timeZone: string): (atMs: number) => number {
  if (timeZone === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const fields = Object.fromEntries(
      format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
    const shown = Date.UTC(year, month - 1, day, hour, minute, second);
    return shown - Math.floor(atMs / 1_000) * 1_000;
  };
}
