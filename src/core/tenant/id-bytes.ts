/**
 * Bytes of the ids of runs in the JSON of a hand-over. A ledger adds thousands of ids in one workflow
 * task, so what a list has is summed once. Pure.
 */
import { byteSize } from '../base/json.ts';

/** A run by its id, or with it. */
type Run = string | { readonly run: string };

const sums = new WeakMap<readonly Run[], number>();

/** Bytes of the id of one run, without quotes. JSON may write a character of it with six. */
export function bytesOfId(run: Run): number {
  return byteSize(typeof run === 'string' ? run : run.run) - 2;
}

/** Bytes of the ids of all `runs`. */
export function bytesOfIds(runs: readonly Run[]): number {
  const known = sums.get(runs);
  if (known !== undefined) return known;
  const sum = runs.reduce((before: number, run) => before + bytesOfId(run), 0);
  sums.set(runs, sum);
  return sum;
}

/** `runs` with `run` after them. */
export function withRun<One extends Run>(runs: readonly One[], run: One): readonly One[] {
  const next = [...runs, run];
  sums.set(next, bytesOfIds(runs) + bytesOfId(run));
  return next;
}

/** `next`, which has the ids of `runs` in any order. */
export function withSameIds<One extends Run>(
  runs: readonly One[],
  next: readonly One[],
): readonly One[] {
  const known = sums.get(runs);
  if (known !== undefined) sums.set(next, known);
  return next;
}
