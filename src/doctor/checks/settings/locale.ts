import type { DoctorCheck } from '../check.ts';

/** Workers have no language of their own. */
export const locale: DoctorCheck = {
  code: 'local-language',
  area: 'settings',
  find: async ({ env }) => {
    // The first that is set decides, as in the C library.
    const name = ['LC_ALL', 'LANG'].find((one) => (env[one] ?? '') !== '');
    const value = name === undefined ? 'C' : (env[name] ?? '');
    if (/^(?:C|POSIX)(?:\.utf-?8)?$/i.test(value)) return [];
    return [
      {
        severity: 'information',
        message: `Expected \`${name}\` to be C.UTF-8 where workers run, got \`${value.slice(0, 100)}\`: a loop of your own that sorts or formats by language decides otherwise on a worker elsewhere.`,
        advice: 'Start workers with `LANG=C.UTF-8`.',
      },
    ];
  },
};
