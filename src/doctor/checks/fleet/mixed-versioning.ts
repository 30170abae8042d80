import type { DoctorCheck } from '../check.ts';

/** With a current version, no worker without a version polls its queues. */
export const mixedVersioning: DoctorCheck = {
  code: 'mixed-versioning',
  area: 'fleet',
  find: async ({ service }) => {
    if (service === null) return [];
    const { current, unversioned } = await service.deployment();
    if (current === null || unversioned.workers.length === 0) return [];
    return [
      {
        severity: 'warning',
        message: `Expected only workers with a version, since \`${current}\` is current, got ${unversioned.workers.length} without one: ${unversioned.workers.slice(0, 5).join(', ')}. They get no work.`,
        advice: 'Stop them, or start them with `EVERLOOP_BUILD_ID`.',
      },
    ];
  },
};
