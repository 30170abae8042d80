/** Fixed answers about forks and evals: made of the played runs. */
import { diffOf } from '../../../src/client/forks/run-diff.ts';
import type { DiffAnswer, MomentAnswer } from '../../../src/console/api-forks.ts';
import { diffView, type ForkStart } from '../../../src/console/view/forks/diff.ts';
import { editableEntries } from '../../../src/console/view/forks/moments.ts';
import { changingCalls, listedCalls } from '../../../src/core/fork/recorded-calls.ts';
import type { EvalRow } from '../../../src/core/evaluation/eval-plan.ts';
import type { FixtureRun } from './fixture-data.ts';

/** The answer to GET `/runs/:id/moment`. */
export function momentOf(run: FixtureRun, query: URLSearchParams): MomentAnswer {
  const moment = run.memory.at({ iteration: Number(query.get('iteration')) });
  const { iteration, agent, entries, callsAfter } = moment;
  return {
    iteration,
    model: agent.model ?? null,
    entries: editableEntries(entries),
    moreEntries: 0,
    mayRepeat: listedCalls(changingCalls(callsAfter)),
  };
}

/** What a fork was told, with hostile words. */
const START: ForkStart = {
  fork: {
    source: { workflowId: 'airline' },
    at: { iteration: 2 },
    edits: [{ entry: 0, text: '<img src=x onerror="document.title=7">\u202Egnol' }, { drop: 1 }],
    instructions: '<script>document.title=8</script>',
    effects: 'replay-only',
  },
  model: 'demo/other',
  limits: { costUsd: 1 },
};

/** The answer to GET `/diff`; undefined: one of the runs is not there. */
export function diffAnswer(
  query: URLSearchParams,
  runs: readonly FixtureRun[],
): DiffAnswer | undefined {
  const [left, right] = ['a', 'b'].map((name) => runs.find(({ id }) => id === query.get(name)));
  if (left === undefined || right === undefined) return undefined;
  return { diff: diffView(diffOf(left, right), [undefined, START]) };
}

/** The tries of an eval; the second variant has hostile words. */
export const EVAL_ROWS: readonly EvalRow[] = [1, 2, 3].flatMap((time) =>
  ['today', '<b>large</b>\u202E'].map((variant, index) => ({
    part: 'clerk-7 at 4',
    variant,
    time,
    run: time === 3 ? null : `eval-1/${time}.${index}`,
    status: 'success' as const,
    reason: 'answered',
    passed: index === 0 || time === 1,
    turns: 3 - index,
    tokens: 1_200 - index * 500 + time,
    costMicroUsd: 2_000 + index * 9_000,
    durationMs: 9,
    answer: '<script>document.title=9</script>',
  })),
);
