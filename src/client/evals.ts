/** Evals: prepares the plan that the run of an eval gets. */
import type { Client } from '@temporalio/client';
import { UsageError } from '../core/base/usage-error.ts';
import type {
  EvalPlan,
  EvalResult,
  EvalVariant,
  MomentPart,
  TaskPart,
} from '../core/evaluation/eval-plan.ts';
import type { ForkEffects, RunMoment } from '../core/base/fork.ts';
import { readPlan } from '../core/evaluation/read-plan.ts';
import { isPlainObject, type Json } from '../core/base/json.ts';
import { shown } from '../core/text/shown.ts';
import { readSummary } from './run-list.ts';

/** A recorded moment; its agent is that of the run. */
export interface EvalMoment extends Omit<MomentPart, 'name' | 'agent' | 'at'> {
  /** Default: the id of the run and the moment. */
  readonly name?: string;
  /** Default `latest`. */
  readonly at?: RunMoment;
}

/** A task with the outcome that is expected. */
export interface EvalTask extends Omit<TaskPart, 'name'> {
  /** Default: `task 1`, … */
  readonly name?: string;
}

/** What is evaluated. */
export interface EvalInput {
  readonly moments?: readonly EvalMoment[];
  readonly tasks?: readonly EvalTask[];
  /** How each part goes on; they must differ. */
  readonly variants: readonly EvalVariant[];
  /** How often each variant goes on from each part. Default 1. */
  readonly times?: number;
  /** What calls do in forks of moments. Default `replay-only`. */
  readonly effects?: ForkEffects;
  /** An agent that judges each answer: true or false, a score from 0 to 1, or both. */
  readonly judge?: string;
}

/** The plan of an eval. @throws UsageError `invalid_input` with all problems, `run_not_found`. */
export async function evalPlan(client: Client, input: EvalInput): Promise<EvalPlan> {
  const { moments = [], tasks = [], ...rest } = input;
  if (!Array.isArray(moments) || !Array.isArray(tasks)) {
    const message = `Expected \`moments\` and \`tasks\` to be lists, got ${shown(input)}. Write them so.`;
    throw new UsageError('invalid_input', message);
  }
  const parts = [
    ...(await Promise.all(moments.map((moment) => momentPart(client, moment)))),
    ...tasks.map((task, index) => ({ name: `task ${index + 1}`, ...task })),
  ];
  const read = readPlan({ ...rest, parts });
  if (read.kind === 'plan') return read.plan;
  throw new UsageError('invalid_input', read.problems.join('\n'));
}

async function momentPart(client: Client, moment: EvalMoment): Promise<MomentPart> {
  const { run, at = 'latest' } = moment;
  const { agent } = await readSummary(client, String(run));
  const where = typeof at === 'string' ? at : Object.values(at)[0];
  return { name: `${run} at ${String(where)}`, ...moment, at, agent };
}

/** The rows in the value of an eval's run. @throws UsageError `invalid_input` for another value. */
export function evalResult(value: Json): EvalResult {
  if (isPlainObject(value) && value['v'] === 1 && Array.isArray(value['rows'])) {
    return value as unknown as EvalResult;
  }
  throw new UsageError(
    'invalid_input',
    `Expected the value of an eval, got ${shown(value)}. Name its run.`,
  );
}
