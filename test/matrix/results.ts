/** What was seen: kept in a file beside this one, so that scenarios may be played one at a time. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { JobOutcome } from './job.ts';
import type { RandomOutcome } from './random.ts';

/** A row of the page. */
export interface RowResult extends Omit<JobOutcome, 'point' | 'unmet'> {
  /** Events of the scenario at which it was to be killed, times points. */
  readonly moments: number;
  /** Processes that wanted a core, for each core, on average; absent: not recorded. */
  readonly load?: number;
}

/** All that the page shows. */
export interface MatrixResults {
  readonly rows: readonly RowResult[];
  readonly random?: readonly RandomOutcome[];
}

const FILE = fileURLToPath(new URL('results.json', import.meta.url));

/** What was seen so far. */
export function readResults(): MatrixResults {
  if (!existsSync(FILE)) return { rows: [] };
  return JSON.parse(readFileSync(FILE, 'utf8')) as MatrixResults;
}

/** Keeps what was seen: a row that was played again takes the place of the old one. */
export function keepResults(found: Partial<MatrixResults>): MatrixResults {
  const known = readResults();
  const fresh = new Map((found.rows ?? []).map((row) => [nameOf(row), row]));
  const old = known.rows.filter((row) => !fresh.has(nameOf(row)));
  const random = new Map(
    [...(known.random ?? []), ...(found.random ?? [])].map((outcome) => [
      outcome.scenario,
      outcome,
    ]),
  );
  const results: MatrixResults = {
    rows: [...old, ...fresh.values()],
    random: [...random.values()],
  };
  writeFileSync(FILE, `${JSON.stringify(results)}\n`);
  return results;
}

function nameOf({ scenario, victim, trouble }: RowResult): string {
  return `${scenario} ${victim} ${trouble ?? ''}`;
}

/** The jobs of one row as one result. */
export function rowOf(outcomes: readonly JobOutcome[]): RowResult {
  const [first] = outcomes;
  if (first === undefined) throw new Error('Expected at least one job.');
  const { point: _point, unmet: _unmet, ...rest } = first;
  const sum = (numberOf: (outcome: JobOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + numberOf(outcome), 0);
  return {
    ...rest,
    load: (loadavg()[1] ?? 0) / availableParallelism(),
    moments: sum(({ kills, unmet }) => kills + unmet.length),
    kills: sum(({ kills }) => kills),
    runs: sum(({ runs }) => runs),
    lost: outcomes.flatMap(({ lost }) => lost),
    unequal: outcomes.flatMap(({ unequal }) => unequal),
    progressMs: outcomes
      .flatMap(({ progressMs }) => progressMs.map(Math.round))
      .toSorted((a, b) => a - b),
    again: {
      read: sum(({ again }) => again.read),
      idempotent: sum(({ again }) => again.idempotent),
      once: sum(({ again }) => again.once),
    },
    twice: {
      idempotent: sum(({ twice }) => twice.idempotent),
      once: sum(({ twice }) => twice.once),
    },
  };
}

/** Whether nothing was lost, nothing done twice, and every sum is that of an undisturbed run. */
export function isRight({ lost, unequal, twice }: RowResult | RandomOutcome): boolean {
  return lost.length === 0 && unequal.length === 0 && twice.idempotent === 0 && twice.once === 0;
}
