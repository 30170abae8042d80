import { CONFIG_DEFAULTS } from '../../../worker/config/config.ts';
import type { DoctorCheck } from '../check.ts';

/** Workers that stop give model calls time to end. */
export const grace: DoctorCheck = {
  code: 'short-grace',
  area: 'settings',
  find: async ({ config }) =>
    config.shutdownGraceMs >= CONFIG_DEFAULTS.shutdownGraceMs
      ? []
      : [
          {
            severity: 'warning',
            message: `Expected a grace of at least ${CONFIG_DEFAULTS.shutdownGraceMs} ms, got ${config.shutdownGraceMs} ms: a deploy ends model calls that must be paid again.`,
            advice: 'Unset `EVERLOOP_SHUTDOWN_GRACE_MS`, and give containers more time than that.',
          },
        ],
};
