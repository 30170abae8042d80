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
import { isMoment } from '../core/fork/read-fork.ts';
import { MAX_TRIES, readPlan } from '../core/evaluation/read-plan.ts';
import { isPlainObject } from '../core/base/json.ts';
import type { Step } from '../core/contract/step.ts';
import { unwrap } from '../core/run/unwrap.ts';
import { shown } from '../core/text/shown.ts';
import { defined } from '../core/base/defined.ts';
import { clip } from '../core/text/cut.ts';
import { describeSource } from './forks.ts';
import { readStartedWith } from './run-tree.ts';

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

/** An eval that can be started. */
export interface PlannedEval {
  readonly plan: EvalPlan;
  /** That of its run: forks are of the tenant of their source. */
  readonly tenant: string | undefined;
}

/**
 * The plan of an eval, and whose it is: `tenant`, by default that of the recorded runs.
 *
 * @throws UsageError `invalid_input` with all problems, and for runs of other tenants;
 * `run_not_found`, `not_an_agent`.
 */
export async function evalPlan(
  client: Client,
  input: EvalInput,
  tenant: string | undefined,
): Promise<PlannedEval> {
  const { moments = [], tasks = [], ...rest } = input;
  if (!Array.isArray(moments) || !Array.isArray(tasks)) {
    const message = `Expected \`moments\` and \`tasks\` to be lists, got ${shown(input)}. Write them so.`;
    throw new UsageError('invalid_input', message);
  }
  if (moments.length > MAX_TRIES) {
    const message = `Expected at most ${MAX_TRIES} tries, got ${moments.length} moments. Take several evals.`;
    throw new UsageError('invalid_input', message);
  }
  const wrong = moments.findIndex((moment) => !isReadable(moment));
  if (wrong !== -1) {
    const message = `Expected \`moments[${wrong}]\` to be { run, at? }, got ${shown(moments[wrong])}. Name a run and a moment.`;
    throw new UsageError('invalid_input', message);
  }
  const known = await Promise.all(moments.map((moment) => momentPart(client, moment, input.judge)));
  const parts = [
    ...known.map(({ part }) => part),
    ...tasks.map((task, index) => ({ name: `task ${index + 1}`, ...task })),
  ];
  const read = readPlan({ ...rest, parts });
  if (read.kind === 'problems') throw new UsageError('invalid_input', read.problems.join('\n'));
  const whose = tenant ?? known[0]?.tenant;
  const other = known.find((one) => one.tenant !== whose);
  if (other === undefined) return { plan: read.plan, tenant: whose };
  const [wanted, got] = [whose, other.tenant].map((name) =>
    name === undefined ? 'no tenant' : `tenant \`${name}\``,
  );
  throw new UsageError(
    'invalid_input',
    `Expected moments of runs of ${wanted}, got run \`${other.part.run}\` of ${got}. Evaluate the runs of each tenant apart.`,
  );
}

/** Whether the service can be asked about it; the plan is checked as a whole. */
function isReadable(moment: unknown): boolean {
  if (!isPlainObject(moment) || typeof moment['run'] !== 'string') return false;
  return moment['at'] === undefined || isMoment(moment['at']);
}

async function momentPart(
  client: Client,
  moment: EvalMoment,
  judge: string | undefined,
): Promise<{ readonly part: MomentPart; readonly tenant: string | undefined }> {
  const { run, at = 'latest' } = moment;
  const { agent, tenant, task } = await describeSource(client, String(run));
  const where = typeof at === 'string' ? at : Object.values(at)[0];
  const asked = judge === undefined ? undefined : await askedOf(client, run, task);
  const named = { name: `${run} at ${String(where)}`, ...defined({ asked }), ...moment };
  return { part: { ...named, at, agent }, tenant };
}

/** Characters of the task of a run that a judge reads; the plan carries those of all moments. */
const MAX_ASKED = 4_000;

/** The task of a run. That of a fork which has none of its own is known from its beginning alone. */
async function askedOf(client: Client, run: string, begins: string): Promise<string | undefined> {
  const { task } = await readStartedWith(client, run);
  return clip(task.text, MAX_ASKED) || begins || undefined;
}

/**
 * What an eval has found, from the Step of its run: every try, or those that ended before a limit or
 * a cancel ended it. With fewer `rows` than `tries` it is partial.
 *
 * @throws UsageError `run_failed` if the run ended before it began to try, `invalid_input` for the
 * Step of another run.
 */
export function evalResult(step: Step): EvalResult {
  const found = evalOf(step);
  if (found !== null) return found;
  const value = unwrap(step);
  throw new UsageError(
    'invalid_input',
    `Expected the value of an eval, got ${shown(value)}. Name its run.`,
  );
}

/** What the run of an eval has found; null if that is nothing, or it was the run of another agent. */
export function evalOf({ status, value, details }: Step): EvalResult | null {
  const found = status === 'success' ? value : details;
  if (!isPlainObject(found) || found['v'] !== 1) return null;
  const { rows, tries } = found;
  if (!Array.isArray(rows) || typeof tries !== 'number') return null;
  return found as unknown as EvalResult;
}
