import { inTurns } from '../../../client/connection/in-turns.ts';
import type { DoctorCheck } from '../check.ts';

/** Twice the defaults of the service. */
const MAX_EVENTS = 8_192;
const MAX_BYTES = 8_388_608;

/** Asked at most, longest first. */
const ASKED = 5;

/** The service suggests a hand-over to a run before its history is long. */
export const lateSuggestions: DoctorCheck = {
  code: 'late-suggestions',
  area: 'server',
  find: async ({ service }) => {
    if (service === null) return [];
    const long = (await service.openRuns())
      .filter(({ events, bytes }) => events > MAX_EVENTS || bytes > MAX_BYTES)
      .toSorted((a, b) => b.events - a.events)
      .slice(0, ASKED);
    const advice = await inTurns(long, ({ id }) => service.handoverAdvice(id));
    const [run] = long.filter((_run, place) => advice[place]?.isDue === false);
    if (run === undefined) return [];
    return [
      {
        severity: 'warning',
        message: `Expected the service to suggest a hand-over at 4096 events or 4 MB, got none for \`${run.id}\`, which has ${run.events} events and ${Math.round(run.bytes / 1_048_576)} MB.`,
        advice:
          'Lower `limit.historyCount.suggestContinueAsNew` and `limit.historySize.suggestContinueAsNew` of the server: a long history is slow to replay.',
      },
    ];
  },
};
