/** Checks the options of a schedule, all at once. The service checks what its times mean. */
import { idProblem, newIdProblem } from '../../core/base/ids.ts';
import { isPlainObject } from '../../core/base/json.ts';
import type { UsageCode } from '../../core/base/usage-codes.ts';
import { UsageError, usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { foreignIdProblem } from '../../core/tenant/tenant.ts';
import { optionAdvice } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import { OVERLAPS } from './schedule-options.ts';
import { durationMsOf, timeOf } from './schedule-times.ts';

/** Characters of the id of a schedule: its runs append their time, and the service adds a name. */
const MAX_SCHEDULE_ID = 200;

const MIN_CATCHUP_MS = 10_000;

/** `id`, if a schedule can have it. @throws UsageError `invalid_input` */
export function checkedScheduleId(id: string): string {
  return checkedId(id, idProblem(id, MAX_SCHEDULE_ID));
}

/** `id`, if a user may create a schedule of `tenant` under it. @throws UsageError `invalid_input` */
export function checkedNewScheduleId(id: string, tenant: string | undefined): string {
  checkedId(checkedScheduleId(id), newIdProblem(id));
  const foreign = foreignIdProblem(tenant, id);
  if (foreign !== undefined) throw new UsageError('invalid_input', foreign);
  return id;
}

function checkedId(id: string, wrong: string | undefined): string {
  if (wrong === undefined) return id;
  throw new UsageError(
    'invalid_input',
    `Expected the id of a schedule ${wrong}, got ${shown(id)}. Choose another.`,
  );
}

interface Rule {
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
  readonly code?: UsageCode;
  readonly advice?: string;
}

const DURATION: Rule = {
  wanted: 'to be a time such as 90s, 30m, 6h or 1d, or milliseconds',
  fits: (value) => durationMsOf(value) !== undefined,
  code: 'schedule_time',
};
const TIME: Rule = {
  wanted: 'to be a Date, an ISO time or milliseconds since 1970',
  fits: (value) => timeOf(value) !== undefined,
  code: 'schedule_time',
};
const SWITCH: Rule = {
  wanted: 'to be true or false',
  fits: (value) => typeof value === 'boolean',
};
const CALENDARS: Rule = {
  wanted: 'to be a list of calendars such as { hour: 6, dayOfWeek: "MONDAY" }',
  fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isCalendar),
  code: 'schedule_time',
};
/** Checked by the start of a run. */
const ELSEWHERE: Rule = { wanted: '', fits: () => true };

const CALENDAR_FIELDS = [
  'second',
  'minute',
  'hour',
  'dayOfMonth',
  'month',
  'year',
  'dayOfWeek',
  'comment',
];

function isCalendar(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).every((name) => CALENDAR_FIELDS.includes(name));
}

const RULES: Readonly<Record<string, Rule>> = {
  cron: {
    wanted: 'to be a text such as `0 6 * * MON-FRI`, or a list of them',
    fits: (value) => {
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      return list.length > 0 && list.every((one) => typeof one === 'string' && one.trim() !== '');
    },
    code: 'schedule_time',
  },
  every: DURATION,
  calendars: CALENDARS,
  offset: DURATION,
  skip: CALENDARS,
  jitter: DURATION,
  startAt: TIME,
  endAt: TIME,
  timeZone: {
    wanted: 'to be an IANA name such as Europe/Vienna',
    fits: (value) => typeof value === 'string' && value !== '',
    code: 'schedule_time',
  },
  overlap: {
    wanted: `to be one of ${Object.keys(OVERLAPS).join(', ')}`,
    fits: (value) => typeof value === 'string' && Object.hasOwn(OVERLAPS, value),
    advice: 'Choose one of them.',
  },
  catchupWindow: {
    ...DURATION,
    wanted: `${DURATION.wanted}, of at least 10 s`,
    fits: (value) => (durationMsOf(value) ?? 0) >= MIN_CATCHUP_MS,
  },
  pauseOnFailure: SWITCH,
  previous: SWITCH,
  paused: SWITCH,
  agent: ELSEWHERE,
  tenant: ELSEWHERE,
  task: ELSEWHERE,
  context: ELSEWHERE,
  history: ELSEWHERE,
  limits: ELSEWHERE,
  model: ELSEWHERE,
  settings: ELSEWHERE,
  toolChoice: ELSEWHERE,
  onEvent: ELSEWHERE,
  compiled: ELSEWHERE,
};

/**
 * Checks each option that is given, and what options ask of each other.
 *
 * @throws UsageError with all problems: `schedule_time`, `unknown_option`, `invalid_input`.
 */
export function checkScheduleOptions(options: object): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const problems = [
    ...given.flatMap(([name, value]) => problemsOf(name, value)),
    ...zoneInCron(options),
    ...lateOffset(options),
  ];
  if (problems.length > 0) throw usageErrorOf(problems);
}

function problemsOf(name: string, value: unknown): readonly UsageProblem[] {
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  if (rule === undefined) {
    const advice = optionAdvice(name, Object.keys(RULES));
    return [problem('unknown_option', 'an option of a schedule', `\`${name}\``, advice)];
  }
  const { wanted, fits, code = 'invalid_input', advice } = rule;
  return fits(value) ? [] : [problem(code, `\`${name}\` ${wanted}`, shown(value), advice)];
}

function zoneInCron(options: { readonly cron?: unknown }): readonly UsageProblem[] {
  const list: readonly unknown[] = [options.cron].flat();
  const zoned = list.find((one) => typeof one === 'string' && /^\s*(?:CRON_)?TZ=/.test(one));
  if (zoned === undefined) return [];
  const advice = 'Put the zone into `timeZone`.';
  return [problem('schedule_time', '`cron` without a time zone', shown(zoned), advice)];
}

function lateOffset(options: {
  readonly every?: unknown;
  readonly offset?: unknown;
}): readonly UsageProblem[] {
  const { every, offset } = options;
  if (offset === undefined || offset === null) return [];
  const offsetMs = durationMsOf(offset);
  const everyMs = durationMsOf(every);
  if (offsetMs === undefined || (everyMs !== undefined && offsetMs < everyMs)) return [];
  const what = '`offset` to be less than `every`';
  return [problem('schedule_time', what, `${shown(offset)} beside ${shown(every)}`)];
}

/** Why no run could be told of the one before it; undefined if each can. */
export function unorderedProblem({
  previous,
  overlap,
}: {
  readonly previous?: unknown;
  readonly overlap?: unknown;
}): UsageProblem | undefined {
  if (previous !== true || overlap !== 'allow-all') return undefined;
  const what =
    'an `overlap` by which a run begins after the one before, because `previous` is true';
  const advice = 'Choose another, or leave out `previous`.';
  return problem('invalid_input', what, '`allow-all`', advice);
}

/** Why options that are complete name no time; undefined if they do. */
export function timelessProblem(options: {
  readonly cron?: unknown;
  readonly every?: unknown;
  readonly calendars?: unknown;
}): UsageProblem | undefined {
  const { cron, every, calendars } = options;
  if (cron !== undefined || every !== undefined || calendars !== undefined) return undefined;
  const what = 'at least one of `cron`, `every` and `calendars`';
  return problem('schedule_time', what, 'none', 'Say when runs begin.');
}

function problem(code: UsageCode, what: string, got: string, advice = 'Change it.'): UsageProblem {
  return { code, message: `Expected ${what}, got ${got}. ${advice}` };
}
