/**
 * The loop of an eval: a fan-out of forks and runs, in batches, under the limits of the eval's own run.
 *
 * I1  Each try is in the data of the run as soon as it has ended, and its verdict as soon as there is
 *     one. So a hand-over or a lost worker repeats no try that was judged, and a run that ends early
 *     still has the table of what was tried.
 * I2  A try that the budget of the eval has cut short says nothing about its variant: it is no row.
 */
import { isPlainObject, type Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { SpawnEnd, SpawnResult } from '../children/spawn.ts';
import type { EvalPlan, EvalRow } from '../evaluation/eval-plan.ts';
import type { EvaluationSpec } from '../contract/spec.ts';
import { readPlan } from '../evaluation/read-plan.ts';
import { judgeRequest, requestOf, rowOf, triesOf, tryKey, type Try } from '../evaluation/tries.ts';
import { leaving } from '../run/ending.ts';
import { stopAt } from './child-value.ts';
import { toInternalError } from './turn.ts';
import type { Next, Work } from './work.ts';

/** The loop of an eval: one batch of tries in each iteration. */
export function evaluationLoop({ batch }: EvaluationSpec): Next {
  return async (work) => {
    try {
      const plan = planIn(work);
      const tries = triesOf(plan);
      if (work.state.data === null) keepRows(work, [], tries.length);
      const ended = new Set(rowsIn(work.state.data).filter(hasVerdict).map(tryKey));
      const open = tries.filter((one) => !ended.has(keyOf(one)));
      await runTries(work, plan, open.slice(0, batch));
      const rows = rowsIn(work.state.data).filter(hasVerdict);
      if (rows.length < tries.length) return { kind: 'continue' };
      return { kind: 'end', value: work.state.data };
    } catch (error) {
      throw toInternalError(error);
    }
  };
}

/** The plan of the context; any client may have written it. */
function planIn({ state }: Work): EvalPlan {
  const read = readPlan(state.head.context?.['plan']);
  if (read.kind === 'plan') return read.plan;
  const cause = read.problems.join('\n');
  throw leaving({ kind: 'failed', code: 'invalid_input', cause, isVerbatim: true });
}

function rowsIn(data: Json): readonly EvalRow[] {
  const rows = isPlainObject(data) ? data['rows'] : undefined;
  return Array.isArray(rows) ? (rows as unknown as readonly EvalRow[]) : [];
}

function keepRows(work: Work, rows: readonly EvalRow[], tries: number): void {
  work.setData({ v: 1, rows: rows as unknown as Json, tries });
}

function hasVerdict({ isJudged }: EvalRow): boolean {
  return isJudged !== false;
}

function keyOf({ part, variant, time }: Try): string {
  return tryKey({ part: part.name, variant: variant.name, time });
}

/** Runs tries at once, and keeps the row of each as it ends. The budget of the eval ends it. */
async function runTries(work: Work, plan: EvalPlan, tries: readonly Try[]): Promise<void> {
  const runs = plan.judge === undefined ? tries.length : 2 * tries.length;
  const full = await work.roomForChildren(runs);
  if (full !== null) stopAt(work, full);
  const all = triesOf(plan).map(keyOf);
  const keep = (row: EvalRow): void => {
    const others = rowsIn(work.state.data).filter((other) => tryKey(other) !== tryKey(row));
    keepRows(work, inOrder([...others, row], all), all.length);
  };
  let cut: Breach | undefined;
  const onEnd = async ({ index, result, follow }: SpawnEnd): Promise<void> => {
    const one = tries[index];
    cut ??= cutBy(result);
    if (one === undefined || cutBy(result) !== undefined) return;
    const ends = work.state.childEnds ?? [];
    const { judge } = plan;
    const request = judge === undefined ? undefined : judgeRequest(judge, one, result);
    if (request === undefined) {
      keep(rowOf(one, result, undefined, ends));
      return;
    }
    keep({ ...rowOf(one, result, undefined, ends), passed: false, isJudged: false });
    const judged = await follow(request);
    cut ??= cutBy(judged);
    if (cutBy(judged) === undefined) keep(rowOf(one, result, judged, ends));
  };
  await work.spawnAll(
    tries.map((one) => requestOf(one, plan)),
    { onFailure: 'continue', onEnd },
  );
  if (cut !== undefined) stopAt(work, cut);
}

/** The limit of the eval, or of a run above it, that ended a run or left no room for it (I2). */
function cutBy(result: SpawnResult | undefined): Breach | undefined {
  if (result?.kind === 'failed') return result.failure.breach;
  return result?.kind === 'refused' ? result.breach : undefined;
}

function inOrder(rows: readonly EvalRow[], keys: readonly string[]): readonly EvalRow[] {
  const places = new Map(keys.map((key, place) => [key, place]));
  const placeOf = (row: EvalRow): number => places.get(tryKey(row)) ?? 0;
  return [...rows].sort((left, right) => placeOf(left) - placeOf(right));
}
