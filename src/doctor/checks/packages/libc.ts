import type { DoctorCheck } from '../check.ts';

/** The native part of a worker needs glibc. */
export const libc: DoctorCheck = {
  code: 'musl',
  area: 'packages',
  find: async ({ hasLibc }) =>
    hasLibc
      ? []
      : [
          {
            severity: 'error',
            message: 'Expected a Linux with glibc, got one with another C library, such as Alpine.',
            advice: 'Use an image such as node:22-slim: a worker does not load here.',
          },
        ],
};
