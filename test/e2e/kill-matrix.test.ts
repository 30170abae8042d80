/**
 * Some moments of the kill matrix: a worker, and apart from it the server, is killed at events of the
 * reference scenarios. `npm run matrix` takes all of them, and writes `docs/kill-matrix.md`.
 */
import { describe, expect, it } from 'vitest';
import { MATRIX_ROWS, playRows, type MatrixRow } from '../matrix/matrix.ts';
import { POINTS } from '../matrix/moments.ts';
import { rowOf, type RowResult } from '../matrix/results.ts';
import { extentOf } from '../support/extent.ts';

/** Runs that are killed at once. They mostly wait: for heartbeats, and for tasks that time out. */
const LANES = { worker: 6, server: 2 };

/**
 * One moment of one point of a row, each row another point. Every third row is played with keys and
 * blobs, and compared with a run that has neither.
 */
function sampled(row: MatrixRow, index: number): MatrixRow {
  const place = index % POINTS.length;
  const points = row.points.length === 1 ? row.points : POINTS.filter((_, at) => at === place);
  return { ...row, points, atMost: 1, isProtected: index % 3 === 1 };
}

describe('a kill at an event', () => {
  it(
    'loses no run, does nothing twice and changes no sum [row 23] [row 29] [row 48] [row 56]',
    { timeout: 900_000 },
    async () => {
      const played = MATRIX_ROWS.map(sampled).filter(
        ({ victim }, index) => victim === 'worker' || index % 3 === 0,
      );
      // Neighbours have other points.
      const rows = extentOf(played, 4);
      const results: RowResult[] = [];

      await playRows(rows, LANES, { onRow: (outcomes) => results.push(rowOf(outcomes)) });

      for (const { scenario, victim, lost, unequal, twice, kills } of results) {
        expect({ scenario, victim, lost, unequal, twice }).toEqual({
          scenario,
          victim,
          lost: [],
          unequal: [],
          twice: { idempotent: 0, once: 0 },
        });
        expect(kills, scenario).toBeGreaterThan(0);
      }
      expect(results).toHaveLength(rows.length);
    },
  );
});
