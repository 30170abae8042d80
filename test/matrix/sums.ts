/** The statistics of a scenario's runs, and where those of two plays of it differ. */
import type { RunHandle } from '../../src/client/run-handle.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../src/core/base/json.ts';
import { patiently } from './patiently.ts';

/** What a kill must not change, a run each. */
export type Sums = readonly RunSums[];

interface RunSums {
  readonly value: Json;
  readonly counters: Readonly<Record<string, number>>;
  /** `once` calls whose outcome the run does not know: each counts as an error, and rightly so. */
  readonly unknown: number;
}

/**
 * Attempts may be more, and tokens of a lost attempt are estimated, apart from all sums. Steps of
 * programs are fuel, which depends on the order in which calls end.
 */
const NOT_COMPARED = /retries|attempts|estimated|lost|program_steps|tool_calls_error/;

/** Without an archive, a worker replays each link for its events; others may keep it busy. */
const ANSWERS_WITHIN_MS = 300_000;

/** The sums of runs that have ended. */
export async function sumsOf(runs: readonly RunHandle[]): Promise<Sums> {
  return Promise.all(
    runs.map(async (run) => {
      const { value, stats } = await run.result();
      const counters = Object.entries(stats.counters);
      const compared = counters.filter(([key]) => !NOT_COMPARED.test(key));
      const events = await patiently(() => run.events({ tree: true }), ANSWERS_WITHIN_MS);
      const unknown = events.filter(
        (event) => event.type === 'agent:tool_call:after' && event.outcome === 'unknown',
      ).length;
      const errors = stats.counters['agent:tool_calls_error_total'] ?? 0;
      return {
        value: value as Json,
        counters: { ...Object.fromEntries(compared), 'other errors': errors - unknown },
        unknown,
      };
    }),
  );
}

/** Where the sums differ, a line each. */
export function sumsDiffer(got: Sums, expected: Sums): readonly string[] {
  if (got.length !== expected.length) return [`${got.length} runs, not ${expected.length}`];
  return expected.flatMap(({ value, counters }, index) => {
    const other = got[index];
    if (other === undefined) return [];
    const keys = new Set([...Object.keys(counters), ...Object.keys(other.counters)]);
    return [
      ...(isDeepStrictEqual(other.value, value) ? [] : [`value ${JSON.stringify(other.value)}`]),
      ...[...keys]
        .filter((key) => (counters[key] ?? 0) !== (other.counters[key] ?? 0))
        .map((key) => `${key} is ${other.counters[key] ?? 0}, not ${counters[key] ?? 0}`),
    ];
  });
}
