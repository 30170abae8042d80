/**
 * The loop of an eval: a fan-out of forks and runs, in batches, under the limits of the eval's own run.
 * What has ended is in the data of the run, so a hand-over or a lost worker repeats no try.
 */
import { isPlainObject, type Json } from '../base/json.ts';
import type { SpawnResult } from '../children/spawn.ts';
import type { EvalPlan, EvalRow } from '../evaluation/eval-plan.ts';
import type { EvaluationSpec } from '../contract/spec.ts';
import { readPlan } from '../evaluation/read-plan.ts';
import { judgeRequest, requestOf, rowOf, triesOf, type Try } from '../evaluation/tries.ts';
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
      const before = rowsIn(work.state.data);
      const next = tries.slice(before.length, before.length + batch);
      const rows = [...before, ...(await rowsOf(work, plan, next))];
      work.setData({ v: 1, rows: rows as unknown as Json });
      if (rows.length < tries.length) return { kind: 'continue' };
      return { kind: 'end', value: { v: 1, rows: rows as unknown as Json } };
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

async function rowsOf(
  work: Work,
  plan: EvalPlan,
  tries: readonly Try[],
): Promise<readonly EvalRow[]> {
  const results = await together(
    work,
    tries.map((one) => requestOf(one, plan)),
  );
  const { judge } = plan;
  const asked = tries.flatMap((one, index) => {
    const result = results[index];
    const request =
      judge === undefined || result === undefined ? undefined : judgeRequest(judge, one, result);
    return request === undefined ? [] : [{ index, request }];
  });
  const verdicts = await together(
    work,
    asked.map(({ request }) => request),
  );
  const ends = work.state.childEnds ?? [];
  return tries.flatMap((one, index) => {
    const result = results[index];
    if (result === undefined) return [];
    const verdict = verdicts[asked.findIndex((of) => of.index === index)];
    return [rowOf(one, result, verdict, ends)];
  });
}

/** Runs children at once. The budget of the eval ends it; a try that fails is a row. */
async function together(
  work: Work,
  requests: Parameters<Work['spawnAll']>[0],
): Promise<readonly SpawnResult[]> {
  if (requests.length === 0) return [];
  const full = await work.roomForChildren(requests.length);
  if (full !== null) stopAt(work, full);
  return work.spawnAll(requests, { onFailure: 'continue' });
}
