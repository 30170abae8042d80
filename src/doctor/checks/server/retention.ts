import type { DoctorCheck } from '../check.ts';

const DAY_MS = 86_400_000;

/** Less leaves no weekend to look at a run that failed. */
const MIN_DAYS = 3;

/** The service keeps runs that have ended for some days. */
export const retention: DoctorCheck = {
  code: 'short-retention',
  area: 'server',
  find: async ({ service }) => {
    const kept = (await service?.retentionMs()) ?? null;
    if (kept === null || kept >= MIN_DAYS * DAY_MS) return [];
    const hours = Math.round(kept / 3_600_000);
    return [
      {
        severity: 'warning',
        message: `Expected the namespace \`${service?.namespace}\` to keep ended runs for at least ${MIN_DAYS} days, got ${hours} hours.`,
        advice: `Raise it: temporal operator namespace update --retention ${MIN_DAYS}d.`,
      },
    ];
  },
};
