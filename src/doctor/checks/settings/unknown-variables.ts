import { unknownVariables } from '../../../worker/config/config.ts';
import type { DoctorCheck } from '../check.ts';

/** Every variable of Everloop has an effect. */
export const variables: DoctorCheck = {
  code: 'unknown-variables',
  area: 'settings',
  find: async ({ env }) =>
    unknownVariables(env).map(([name]) => ({
      severity: 'warning' as const,
      message: `Expected variables that this version knows, got \`${name}\`, which has no effect.`,
      advice: 'Remove it, or install the version that knows it.',
    })),
};
