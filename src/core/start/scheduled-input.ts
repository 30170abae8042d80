/** What a scheduled run is told: its schedule as data, and a task whose placeholders are filled in. */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ScheduledStart } from '../contract/input.ts';
import { isHidden } from '../contract/signature.ts';
import { expandTemplate, type Expansion } from '../template/expand-template.ts';
import { parseTemplate } from '../template/parse-template.ts';
import { namesOf } from '../template/template.ts';

/** Keys of the context that a schedule sets, and what each holds. */
export const SCHEDULE_DATA = {
  schedule: ['id', 'time', 'date'],
  previous: ['status', 'value', 'reason', 'endedAt'],
} as const;

/** The task of a schedule comes with a start, so what it multiplies has a bound. */
const MAX_TASK_CHARACTERS = 1_000_000;

/** A scheduled start, with the day on which it was due in the time zone of its schedule. */
export interface DatedStart extends ScheduledStart {
  /** `2026-11-22` */
  readonly date: string;
}

/** `context` with what the schedule says. */
export function scheduledContext(
  context: JsonObject | undefined,
  { id, time, date, previous }: DatedStart,
): JsonObject {
  return {
    ...context,
    schedule: { id, time, date },
    ...defined({ previous: previous as Json | undefined }),
  };
}

/**
 * `task` of a schedule, filled in from the context of one run. What the run before did not leave is
 * empty, because it may have failed, or there was none; values that are no scalars are JSON.
 */
export function scheduledTask(task: string, context: JsonObject): Expansion {
  const reading = parseTemplate(task);
  if (reading.kind === 'problem') return reading;
  return expandTemplate(reading.nodes, context, { loose: ['previous'], max: MAX_TASK_CHARACTERS });
}

/**
 * Why no run of a schedule could fill in `task`, in one sentence; undefined if all can. `context` has
 * the names that the schedule gives each run.
 */
export function scheduledTaskProblem(
  task: string,
  { context, previous }: { readonly context: readonly string[]; readonly previous: boolean },
): string | undefined {
  const reading = parseTemplate(task);
  if (reading.kind === 'problem') {
    return `Expected \`task\` to be text with placeholders such as {{schedule.date}}, got: ${reading.message} Correct it.`;
  }
  const known = [
    ...SCHEDULE_DATA.schedule.map((name) => `schedule.${name}`),
    ...(previous ? ['previous', ...SCHEDULE_DATA.previous.map((name) => `previous.${name}`)] : []),
    ...context.filter((name) => !isHidden(name)),
  ];
  const unknown = namesOf(reading.nodes).find(({ isOuter, root, tag }) => {
    if (!isOuter) return false;
    const path = tag.replaceAll(/[{}#^]/g, '').split('.');
    return !known.includes(root) && !known.includes(path.slice(0, 2).join('.'));
  });
  if (unknown === undefined) return undefined;
  const advice =
    !previous && unknown.root === 'previous' ? 'Set `previous: true`.' : 'Choose one of them.';
  return `Expected placeholders of \`task\` to name ${known.join(', ')}, got \`${unknown.tag}\`. ${advice}`;
}
