/**
 * Throws random text, mutated programs, deep nesting, huge literals and hostile patterns at the
 * language. Every input must end in a value or a typed problem: no throw, no hang.
 */
import fc from 'fast-check';
import { endOf, hostileProgram } from '../../test/lisp/support/hostile-programs.ts';

/** One input may take this long, with the standard fuel. */
const MAX_MS = 4_000;

/** Runs inputs for `seconds`; the exit code. */
export function fuzzLisp(seconds: number, seed: number): number {
  const programs = hostileProgram();
  const ends = new Map<string, number>();
  const start = performance.now();
  let inputs = 0;
  let slowest = { ms: 0, source: '' };
  const failures: string[] = [];
  for (
    let batch = 0;
    performance.now() - start < seconds * 1_000 && failures.length === 0;
    batch++
  ) {
    for (const source of fc.sample(programs, { numRuns: 200, seed: seed + batch })) {
      if (performance.now() - start > seconds * 1_000) break;
      const began = performance.now();
      try {
        const end = endOf(source, false);
        const forced = endOf(source, true);
        if (end !== forced) failures.push(`tiers differ, ${end} and ${forced}: ${source}`);
        ends.set(end, (ends.get(end) ?? 0) + 1);
      } catch (error) {
        failures.push(`threw ${String(error)}: ${source.slice(0, 2_000)}`);
      }
      const ms = performance.now() - began;
      if (ms > slowest.ms) slowest = { ms, source };
      if (ms > MAX_MS) failures.push(`took ${ms.toFixed(0)} ms: ${source.slice(0, 2_000)}`);
      inputs += 1;
    }
  }
  const took = (performance.now() - start) / 1_000;
  console.log(
    `seed ${seed}: ${inputs} programs in ${took.toFixed(1)} s; slowest ${slowest.ms.toFixed(0)} ms`,
  );
  console.log(
    [...ends]
      .toSorted((a, b) => b[1] - a[1])
      .map(([end, count]) => `${end} ${count}`)
      .join(', '),
  );
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? 0 : 1;
}
