import type { DoctorCheck, DoctorProblem } from '../check.ts';

const MAX_SKEW_MS = 2_000;

/** The clocks of this machine and of the service are within two seconds of each other. */
export const clock: DoctorCheck = {
  code: 'clock-skew',
  area: 'server',
  find: async ({ service, config, isOwnServer }) => {
    // Both are on this machine.
    if (service === null || isOwnServer) return [];
    const { least, most } = await service.clock(config.taskQueue);
    if (least !== null && least > MAX_SKEW_MS) return [skewed(least, 'ahead of')];
    if (most !== null && most < -MAX_SKEW_MS) return [skewed(-most, 'behind')];
    if (least !== null) return [];
    const got =
      most === null ? 'no sign of it, since no worker polls' : 'no poll of a worker within 2 s';
    return [
      {
        severity: 'information',
        message: `Expected to compare this clock with that of the service, got ${got}. The service tells its time only by the polls of workers${most === null ? '' : '; this clock is not behind'}.`,
        advice: 'Run `everloop doctor` again while a worker is busy, or look at the time service.',
      },
    ];
  },
};

function skewed(byMs: number, where: 'ahead of' | 'behind'): DoctorProblem {
  return {
    severity: 'warning',
    message: `Expected this clock to be within ${MAX_SKEW_MS / 1_000} s of the service's, got one that is at least ${(byMs / 1_000).toFixed(1)} s ${where} it: times that this machine writes or reads are wrong.`,
    advice: 'Let a time service such as chrony set the clocks of all machines.',
  };
}
