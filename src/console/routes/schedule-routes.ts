/** Schedules: when each starts runs, how its last run ended, and what can be done with it. */
import { LRUCache } from 'lru-cache';
import { clip } from '../../core/text/cut.ts';
import { defined } from '../../core/base/defined.ts';
import { inTurns } from '../../client/connection/in-turns.ts';
import type { ScheduleHandle } from '../../client/schedule-handle.ts';
import type { ScheduleSummary, ScheduleStart } from '../../client/schedule-view.ts';
import type { ActionAnswer } from '../api-actions.ts';
import type { MissingPart } from '../api.ts';
import type { ScheduleAnswer, SchedulesAnswer } from '../api-schedules.ts';
import { within } from '../bounded-reads.ts';
import { apiErrorOf } from '../refusal.ts';
import { optionalText, readBody } from '../request-body.ts';
import type { ScheduledRunRow, ScheduleRow } from '../view/schedules.ts';
import type { AddRoutes, RouteParts } from './route-parts.ts';

/** Schedules of an answer. */
const MAX_SCHEDULES = 100;

/** How long the ends of all last runs may take, in ms: the list itself has most of the time. */
const ENDS_MS = 5_000;

/** Ends of runs that are kept. */
const MAX_KEPT = 2_000;

const MAX_TASK_CHARACTERS = 400;

/** Next times of a row. */
const MAX_NEXT = 3;

type Body = { readonly [name: string]: unknown };

interface ScheduleAction {
  readonly fields: readonly string[];
  readonly work: (
    schedule: ScheduleHandle,
    body: Body,
  ) => Promise<Pick<ActionAnswer, 'started'> | void>;
}

const ACTIONS: Readonly<Record<string, ScheduleAction>> = {
  pause: {
    fields: ['note'],
    work: (schedule, body) => schedule.pause(optionalText(body, 'note')),
  },
  resume: {
    fields: ['note'],
    work: (schedule, body) => schedule.resume(optionalText(body, 'note')),
  },
  trigger: {
    fields: [],
    work: async (schedule) => ({ started: (await schedule.trigger())?.id ?? null }),
  },
  delete: { fields: [], work: (schedule) => schedule.delete() },
};

/** Adds `/schedules`, `/schedules/:id` and the actions below it. */
export const addScheduleRoutes: AddRoutes = (app, parts) => {
  const { everloop, reads, act } = parts;
  const endOf = createEnds(parts);
  app.get('/schedules', async (c) => {
    const found = await reads.once('schedules', () =>
      everloop.schedules.list({ limit: MAX_SCHEDULES + 1 }),
    );
    const partial: MissingPart[] = [];
    const until = performance.now() + ENDS_MS;
    const shown = found.slice(0, MAX_SCHEDULES);
    const unread = shown.filter((one) => 'problem' in one);
    const read = shown.flatMap((one) => ('problem' in one ? [] : [one]));
    const schedules = await inTurns(read, async (summary) => {
      const last = await endOf(summary.recent.at(-1), until - performance.now(), partial);
      return rowOf(summary, last);
    });
    const answer: SchedulesAnswer = {
      schedules,
      unread: unread.map(({ id, problem }) => ({
        id,
        problem: clip(problem, MAX_TASK_CHARACTERS),
      })),
      hasMore: found.length > MAX_SCHEDULES,
      ...defined({ partial: partial.length === 0 ? undefined : partial }),
    };
    return c.json(answer);
  });
  app.get('/schedules/:id', async (c) => {
    const schedule = everloop.schedules.attach(c.req.param('id'));
    const view = await reads.once(`schedule ${schedule.id}`, () => schedule.describe());
    const partial: MissingPart[] = [];
    const last = await endOf(view.recent.at(-1), ENDS_MS, partial);
    const { heldBy } = view;
    const answer: ScheduleAnswer = {
      schedule: rowOf(view, last),
      heldBy: heldBy && { ...heldBy, since: heldBy.since?.getTime() ?? null },
      ...defined({ partial: partial.length === 0 ? undefined : partial }),
    };
    return c.json(answer);
  });
  for (const [name, { fields, work }] of Object.entries(ACTIONS)) {
    app.post(`/schedules/:id/${name}`, async (c) => {
      const id = c.req.param('id');
      const schedule = everloop.schedules.attach(id);
      const body = await readBody(c.req.raw, ['requestId', ...fields]);
      const order = { name: `${name}_schedule`, asker: c.get('asker'), run: id, body };
      const answer = await act(order, async () => ({ run: id, ...(await work(schedule, body)) }));
      return c.json(answer);
    });
  }
};

/** How long a start of the list may be read, and where it is noted if it cannot be. */
type EndOf = (
  start: ScheduleStart | undefined,
  withinMs: number,
  partial: MissingPart[],
) => Promise<ScheduledRunRow | null>;

/** Reads how runs ended; the ends are kept, since they do not change. */
function createEnds({ everloop, reader }: RouteParts): EndOf {
  const ends = new LRUCache<string, string>({ max: MAX_KEPT });
  const read = async (run: string): Promise<string> => {
    const known = ends.get(run);
    if (known !== undefined) return known;
    const { state } = await everloop.attach(run).summary();
    if (state === 'running' || state === 'waiting') return state;
    const step = state === 'completed' ? await reader.step(run) : null;
    const end = step?.status ?? state;
    ends.set(run, end);
    return end;
  };
  return async (start, withinMs, partial) => {
    if (start === undefined) return null;
    const { run } = start;
    const row = { run, at: start.time.getTime() };
    try {
      return { ...row, state: await within(Math.max(0, withinMs), read(run)) };
    } catch (error) {
      const { code, message } = apiErrorOf(error);
      // A run that the service has forgotten is none that is missing.
      if (code !== 'run_not_found') partial.push({ part: run, code, message });
      return { ...row, state: null };
    }
  };
}

function rowOf(summary: ScheduleSummary, last: ScheduledRunRow | null): ScheduleRow {
  const { id, agent, task, times, timeZone, overlap, pauseOnFailure, previous } = summary;
  const { paused, note, next, running, started, skipped, missed } = summary;
  return {
    id,
    agent,
    task: clip(task, MAX_TASK_CHARACTERS),
    times,
    timeZone,
    overlap,
    pauseOnFailure,
    previous,
    paused,
    note,
    next: next.slice(0, MAX_NEXT).map((time) => time.getTime()),
    last,
    running,
    started,
    skipped,
    missed,
  };
}
