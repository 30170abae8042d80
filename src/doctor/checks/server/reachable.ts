import type { DoctorCheck } from '../check.ts';

/** A server answers, with this namespace. */
export const reachable: DoctorCheck = {
  code: 'server-unreachable',
  area: 'server',
  find: async ({ service, noServer }) =>
    service !== null
      ? []
      : [
          {
            severity: 'error',
            message: noServer,
            advice: 'Start one with `everloop dev`, or set `TEMPORAL_ADDRESS`.',
          },
        ],
};
