/** The start that a schedule keeps: what `start` sends, and the mark of a schedule. */
import { randomUUID } from 'node:crypto';
import { defined } from '../../core/base/defined.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { INLINE_SIZES } from '../../core/base/size-limits.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { AgentInput } from '../../core/contract/input.ts';
import { contextOfStep, isStep } from '../../core/contract/piping.ts';
import { SCHEDULE_DATA, scheduledTaskProblem } from '../../core/start/scheduled-input.ts';
import { startInput } from '../../core/start/start-input.ts';
import { requireCompiled } from '../../core/start/start-parts.ts';
import { SCHEDULE_DEFAULTS, type ScheduledRun } from './schedule-options.ts';

/** The service keeps it in the history of the schedule, which takes no blobs. */
const MAX_SCHEDULE_BYTES = 1_000_000;

/**
 * The input of each run of a schedule.
 *
 * @throws UsageError `invalid_input` as a start, for more than 1 MB, and for placeholders of unknown
 * names.
 */
export function scheduleInput(
  { agent, task, previous = false, ...parts }: ScheduledRun,
  timeZone: string = SCHEDULE_DEFAULTS.timeZone,
): AgentInput {
  if (parts.compiled !== undefined) requireCompiled(parts.compiled);
  const { tenant, context, history, limits, model, settings, toolChoice } = parts;
  const { onEvent, compiled } = parts;
  const asked = { model, settings, toolChoice, compiled };
  const start = defined({ tenant, task, context, history, limits, ...asked, onEvent });
  const input = startInput(agent, start, { ...INLINE_SIZES, start: MAX_SCHEDULE_BYTES });
  const problem =
    ownNameProblem(context) ??
    scheduledTaskProblem(input.task.text, { context: namesIn(context), previous });
  if (problem !== undefined) throw new UsageError('invalid_input', problem);
  const marked = defined({ timeZone, previous: previous ? (true as const) : undefined });
  return { ...input, schedule: { ...marked, revision: randomUUID() } };
}

/** What a run of the schedule is started with, from the input that it keeps. */
export function scheduledRun(input: AgentInput): ScheduledRun {
  const { agent, tenant, task, context, history, limits, model, settings, toolChoice } = input;
  const { onEvent, compiled, schedule } = input;
  const isEmpty = task.text === '' && task.media === undefined;
  const kept = { task: isEmpty ? undefined : task, context, history, limits, model };
  const asked = { settings, toolChoice };
  return {
    agent,
    ...defined({ tenant, ...kept, ...asked, onEvent, compiled, previous: schedule?.previous }),
  };
}

function namesIn(context: AgentInput['context']): readonly string[] {
  if (!isStep(context)) return Object.keys(context ?? {});
  const piped = contextOfStep(context);
  return piped.kind === 'context' ? Object.keys(piped.context) : [];
}

function ownNameProblem(context: AgentInput['context']): string | undefined {
  const taken = isPlainObject(context)
    ? Object.keys(SCHEDULE_DATA).find((name) => Object.hasOwn(context, name))
    : undefined;
  if (taken === undefined) return undefined;
  return `Expected \`context\` without the names schedule and previous, which the schedule sets, got \`${taken}\`. Rename it.`;
}
