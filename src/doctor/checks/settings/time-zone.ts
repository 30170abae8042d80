import type { DoctorCheck } from '../check.ts';

/** Workers have no time zone of their own. */
export const timeZone: DoctorCheck = {
  code: 'local-time-zone',
  area: 'settings',
  find: async ({ timeZone: zone }) =>
    /^(?:UTC|Etc\/UTC|GMT|Etc\/GMT|Etc\/UCT)$/.test(zone)
      ? []
      : [
          {
            severity: 'information',
            message: `Expected the time zone UTC where workers run, got ${zone}: a loop of your own that writes local times decides otherwise on a worker elsewhere.`,
            advice: 'Start workers with `TZ=UTC`.',
          },
        ],
};
