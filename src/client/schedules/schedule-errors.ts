/** Turns what the service says of a schedule into usage errors. */
import { ScheduleNotFoundError } from '@temporalio/client';
import { UsageError } from '../../core/base/usage-error.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { grpcCodeOf, isNotFound } from '../connection/service-errors.ts';
import type { ScheduleTimes } from './schedule-options.ts';

/** The gRPC statuses of a schedule that exists, and of one that the service cannot take. */
const ALREADY_EXISTS = 6;
const INVALID_ARGUMENT = 3;

/**
 * Makes a call about schedule `id`; `times` are those that it sends.
 *
 * @throws UsageError `schedule_not_found`, `schedule_exists`, `schedule_time`, `keys_missing`.
 */
export async function scheduling<Result>(
  id: string,
  call: () => Promise<Result>,
  times: Pick<ScheduleTimes, 'cron' | 'timeZone'> = {},
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const usage = usageOf(error, id, times);
    throw usage === undefined ? error : Object.assign(usage, { cause: error });
  }
}

function usageOf(
  error: unknown,
  id: string,
  times: Pick<ScheduleTimes, 'cron' | 'timeZone'>,
): UsageError | undefined {
  if (error instanceof ScheduleNotFoundError || isNotFound(error)) {
    return new UsageError(
      'schedule_not_found',
      `Expected the id of a schedule, got \`${id}\`, which none has. List the schedules to find it.`,
    );
  }
  if (grpcCodeOf(error) === ALREADY_EXISTS) {
    return new UsageError(
      'schedule_exists',
      `Expected a free schedule id, got \`${id}\`, which another one has. Choose another, or update it.`,
    );
  }
  const words = refusedSpec(error);
  if (words !== undefined) return timeError(words, times);
  return unreadableError(error, `to read schedule \`${id}\``);
}

const SPEC = 'Invalid schedule spec: ';

/** Why the service, or the SDK in its place, cannot read the times of a schedule. */
function refusedSpec(error: unknown): string | undefined {
  if (error instanceof TypeError && error.message.startsWith('Invalid CalendarSpec')) {
    return error.message;
  }
  if (!(error instanceof Error) || grpcCodeOf(error) !== INVALID_ARGUMENT) return undefined;
  const at = error.message.indexOf(SPEC);
  return at < 0 ? undefined : error.message.slice(at + SPEC.length);
}

function timeError(
  words: string,
  { cron, timeZone }: Pick<ScheduleTimes, 'cron' | 'timeZone'>,
): UsageError {
  if (/does not have 5-7 fields/.test(words)) {
    const list = [cron].flat();
    const wrong = list.find((one) => !hasFields(one)) ?? list[0];
    return new UsageError(
      'schedule_time',
      `Expected \`cron\` of 5 to 7 fields, got \`${wrong}\`. Write it as minute, hour, day of month, month, day of week, such as \`0 6 * * MON-FRI\`.`,
    );
  }
  if (/unknown time zone/i.test(words)) {
    return new UsageError(
      'schedule_time',
      `Expected \`timeZone\` to be an IANA name such as Europe/Vienna, got \`${timeZone}\`. Change it.`,
    );
  }
  const got =
    cron === undefined
      ? ''
      : ` ${[cron]
          .flat()
          .map((one) => `\`${one}\``)
          .join(', ')}`;
  return new UsageError(
    'schedule_time',
    `Expected times that the service can read, got${got}: ${words}. Change them.`,
  );
}

function hasFields(cron: string | undefined): boolean {
  const fields = cron?.split('#')[0]?.trim().split(/\s+/).length ?? 0;
  return fields >= 5 && fields <= 7;
}
