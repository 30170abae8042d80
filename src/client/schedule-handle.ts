/** One schedule: look at it, change it, and have it start runs. */
import { UsageError } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import type { RunHandle } from './run-handle.ts';
import type { ListOptions, RunSummary } from './run-list.ts';
import {
  OVERLAPS,
  type ScheduleChanges,
  type ScheduleOverlap,
} from './schedules/schedule-options.ts';
import { describeSchedule, matchingTimes, type TimeRange } from './schedules/describe-schedule.ts';
import { scheduling } from './schedules/schedule-errors.ts';
import { timeOf } from './schedules/schedule-times.ts';
import { triggerSchedule } from './schedules/trigger-schedule.ts';
import { readHoldingRun, summaryOfSchedule, type ScheduleView } from './schedule-view.ts';
import { updateSchedule, type ScheduleParts } from './update-schedule.ts';

/** A range of times. A text is an ISO time, a number milliseconds since 1970. */
export interface BackfillOptions {
  readonly from: Date | string | number;
  readonly until: Date | string | number;
  /** Default `buffer-all`: one run after the other. */
  readonly overlap?: ScheduleOverlap;
}

/** How a start by hand meets a run that goes on. */
export interface TriggerOptions {
  /** Default: the policy of the schedule. `allow-all` starts it beside the other. */
  readonly overlap?: ScheduleOverlap;
}

/** A schedule of runs. Methods throw a UsageError `schedule_not_found` if there is none of its id. */
export interface ScheduleHandle {
  readonly id: string;
  /** What it is, what it did and what comes next. Asks a worker only about a run that waits. */
  describe(): Promise<ScheduleView>;
  /** The next times, in order: 5 unless `count` says it, at most 10. */
  next(count?: number): Promise<readonly Date[]>;
  /** When it is due within a range, also in the past: the first thousand times. */
  times(range: Pick<BackfillOptions, 'from' | 'until'>): Promise<readonly Date[]>;
  /** Starts nothing until `resume`. Runs go on. The note is not encrypted. */
  pause(note?: string): Promise<void>;
  resume(note?: string): Promise<void>;
  /**
   * Starts a run now, also while paused: each call its own. Null: none was started, because another
   * one runs. With a policy that buffers, it may begin later.
   *
   * @throws UsageError `schedule_busy` for more than 60 starts within a minute.
   */
  trigger(options?: TriggerOptions): Promise<RunHandle | null>;
  /**
   * Starts the runs of times that are over, each with the time at which it would have been due.
   * Returns how many times there are.
   *
   * @throws UsageError `schedule_time` for a range that cannot be read, or of 1,000 times or more.
   */
  backfill(options: BackfillOptions): Promise<number>;
  /**
   * Changes what is given. One of `cron`, `every` and `calendars` replaces all three. Runs that go on
   * keep what they were started with.
   *
   * @throws UsageError as `create`; `schedule_busy` if others change it all the time.
   */
  update(changes: ScheduleChanges): Promise<void>;
  /** Its runs, newest first. */
  runs(options?: Omit<ListOptions, 'schedule'>): Promise<readonly RunSummary[]>;
  /** Deletes the schedule. Its runs go on. */
  delete(): Promise<void>;
}

/** Times that one backfill may have: the service lists no more. */
const MAX_TIMES = 1_000;

/** The most times that the service tells in advance. */
const MAX_NEXT = 10;

/** The handle of schedule `id`, which was checked. */
export function scheduleHandle(parts: ScheduleParts, id: string): ScheduleHandle {
  const { client } = parts;
  const own = client.schedule.getHandle(id);
  const ask = <Result>(call: () => Promise<Result>): Promise<Result> => scheduling(id, call);
  const change = (call: () => Promise<void>): Promise<void> =>
    ask(async () => {
      await describeSchedule(client, id);
      await call();
    });
  return {
    id,
    describe: () =>
      ask(async () => {
        const summary = summaryOfSchedule(await describeSchedule(client, id));
        return { ...summary, heldBy: await readHoldingRun(client, summary) };
      }),
    next: async (count = 5) => {
      if (!Number.isSafeInteger(count) || count < 1 || count > MAX_NEXT) {
        const message = `Expected \`count\` from 1 to ${MAX_NEXT}, got ${shown(count)}. Change it, or ask \`times\` for a range.`;
        throw new UsageError('number', message);
      }
      const { info } = await ask(() => describeSchedule(client, id));
      return info.nextActionTimes.slice(0, count);
    },
    times: (range) =>
      ask(async () => {
        const asked = rangeOf(range);
        await describeSchedule(client, id);
        return matchingTimes(client, id, asked);
      }),
    pause: async (note = 'paused by hand') => {
      const said = checkedNote(note);
      await change(() => own.pause(said));
    },
    resume: async (note = 'resumed by hand') => {
      const said = checkedNote(note);
      await change(() => own.unpause(said));
    },
    trigger: ({ overlap } = {}) =>
      ask(async () => {
        if (overlap !== undefined) checkedOverlap(overlap);
        const run = await triggerSchedule(client, id, overlap);
        return run === null ? null : parts.attach(run);
      }),
    backfill: (options) => ask(() => backfill(parts, id, options)),
    update: (changes) => updateSchedule(parts, id, changes),
    runs: (options = {}) => parts.list({ ...options, schedule: id }),
    delete: () => change(() => own.delete()),
  };
}

const MAX_NOTE_CHARACTERS = 1_000;

function checkedNote(note: unknown): string {
  if (typeof note === 'string' && note.length <= MAX_NOTE_CHARACTERS) return note;
  throw new UsageError(
    'invalid_input',
    `Expected \`note\` to be text of at most ${MAX_NOTE_CHARACTERS} characters, got ${shown(note)}. Shorten it.`,
  );
}

function checkedOverlap(overlap: ScheduleOverlap): (typeof OVERLAPS)[ScheduleOverlap] {
  if (Object.hasOwn(OVERLAPS, overlap)) return OVERLAPS[overlap];
  throw new UsageError(
    'invalid_input',
    `Expected \`overlap\` to be one of ${Object.keys(OVERLAPS).join(', ')}, got ${shown(overlap)}. Choose one of them.`,
  );
}

async function backfill(
  { client }: ScheduleParts,
  id: string,
  { from, until, overlap = 'buffer-all' }: BackfillOptions,
): Promise<number> {
  const policy = checkedOverlap(overlap);
  const range = rangeOf({ from, until });
  await describeSchedule(client, id);
  const { length } = await matchingTimes(client, id, range);
  if (length >= MAX_TIMES) {
    throw new UsageError(
      'schedule_time',
      `Expected fewer than ${MAX_TIMES} times from ${range.from.toISOString()} to ${range.until.toISOString()}, got ${length} or more. Take a shorter range.`,
    );
  }
  if (length === 0) return 0;
  const { from: start, until: end } = range;
  await client.schedule.getHandle(id).backfill({ start, end, overlap: policy });
  return length;
}

function rangeOf(range: Pick<BackfillOptions, 'from' | 'until'>): TimeRange {
  const [from, until] = [timeOf(range.from), timeOf(range.until)];
  if (from === undefined || until === undefined) {
    const name = from === undefined ? 'from' : 'until';
    throw new UsageError(
      'schedule_time',
      `Expected \`${name}\` to be a Date, an ISO time or milliseconds since 1970, got ${shown(range[name])}. Change it.`,
    );
  }
  if (from <= until) return { from, until };
  throw new UsageError(
    'schedule_time',
    `Expected \`from\` before \`until\`, got ${from.toISOString()} and ${until.toISOString()}. Change them.`,
  );
}
