import { inTurns } from '../../../client/connection/in-turns.ts';
import type { DoctorCheck, DoctorProblem } from '../check.ts';
import { MAX_ASKED } from '../doctor-service.ts';

const HOUR_MS = 3_600_000;

/** No run has put off a hand-over for an hour. */
export const lateHandovers: DoctorCheck = {
  code: 'late-handovers',
  area: 'runs',
  find: async ({ service, now }) => {
    if (service === null) return [];
    // Those with the longest histories need one most.
    const runs = (await service.openRuns())
      .toSorted((a, b) => b.events - a.events)
      .slice(0, MAX_ASKED);
    const advice = await inTurns(runs, ({ id }) => service.handoverAdvice(id));
    return runs.flatMap(({ id, events }, place): readonly DoctorProblem[] => {
      const since = advice[place]?.since ?? null;
      if (since === null || now - since <= HOUR_MS) return [];
      const minutes = Math.floor((now - since) / 60_000);
      return [
        {
          severity: 'warning',
          message: `Expected \`${id}\` to hand over within an hour, got a hand-over that is due for ${minutes} minutes, with ${events} events.`,
          advice:
            'A run hands over when its calls and children have ended: `everloop show RUN` says which are in flight.',
        },
      ];
    });
  },
};
