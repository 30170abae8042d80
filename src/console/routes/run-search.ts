/**
 * Pages of runs that fit what the service cannot look for: a text, and how an agent ended itself.
 * Pages of the service are read and sorted out here, for a bounded time.
 */
import { defined } from '../../core/base/defined.ts';
import type { StepStatus } from '../../core/contract/step.ts';
import { shown } from '../../core/text/shown.ts';
import { LISTED_STATES } from '../../client/reading/listed-states.ts';
import type { ListOptions, RunPage, RunSummary } from '../../client/run-list.ts';
import type { ConsoleClient } from '../console-client.ts';
import { invalid } from '../refusal.ts';
import { numberIn } from '../request-body.ts';

/** Rows of a page. */
const MAX_ROWS = 200;

/** How long runs are searched before the page gets what was found, in ms. */
const SEARCH_MS = 6_000;

/** Pages that are searched before the page gets what was found. */
const MAX_SEARCHED_PAGES = 20;

/** Runs of one page that are looked at one by one. */
const PAGE_OF_ENDED = 50;

/** How agents end themselves, by the word of the filter: the service lists all as completed. */
const STATUSES: Readonly<Record<string, StepStatus>> = {
  limit: 'limit_exceeded',
  success: 'success',
  canceled: 'canceled',
};

/** The end of the year 9999, in ms since 1970: services know no later time. */
const LAST_TIME = 253_402_300_799_999;

/** What a list of runs is filtered by. */
export interface RunSearch {
  readonly options: ListOptions;
  readonly cursor?: string;
  /** In small letters; empty: any. */
  readonly text: string;
  /** Only runs that ended so, and those that the service lists so; null: any. */
  readonly status: StepStatus | null;
}

/** The filter in the query of a request. @throws ConsoleRefusal `invalid_input`. */
export function filterOf(query: { readonly [name: string]: string | undefined }): RunSearch {
  const { q = '', agent, schedule, tenant, state, roots, below, since, cursor, limit } = query;
  const status = (Object.hasOwn(STATUSES, state ?? '') && STATUSES[state ?? '']) || null;
  const known = LISTED_STATES.find((one) => one === (state === 'error' ? 'failed' : state));
  // Canceled are those that the service has canceled, and those that have canceled themselves.
  const chosen = status === 'canceled' ? undefined : status === null ? known : 'completed';
  if (state !== undefined && state !== '' && known === undefined && status === null) {
    const names = [...new Set([...LISTED_STATES, ...Object.keys(STATUSES), 'error'])].join(', ');
    throw invalid(`Expected \`state\` to be one of ${names}, got ${shown(state)}. Choose one.`);
  }
  const from = numberIn(since, 'since', { least: 0, most: LAST_TIME, fallback: 0 });
  return {
    options: {
      limit: numberIn(limit, 'limit', { least: 1, most: MAX_ROWS, fallback: MAX_ROWS }),
      roots: roots === 'true' || roots === '1',
      ...defined({
        agent: agent || undefined,
        schedule: schedule || undefined,
        tenant: tenant || undefined,
        state: chosen,
        since: from === 0 ? undefined : from,
        // The id of a run begins with that of the run above.
        idPrefix: below === undefined || below === '' ? undefined : `${below}/`,
      }),
    },
    text: q.trim().toLowerCase(),
    status,
    ...defined({ cursor: cursor || undefined }),
  };
}

/** A page of the runs that fit; `statusOf` gives how each of these runs ended, as far as it can be read. */
export async function searchRuns(
  everloop: Pick<ConsoleClient, 'listPage'>,
  { options, cursor: first, text, status }: RunSearch,
  statusOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, StepStatus>>,
): Promise<RunPage> {
  if (text === '' && status === null) {
    return everloop.listPage({ ...options, ...defined({ cursor: first }) });
  }
  const runs: RunSummary[] = [];
  let cursor: string | null = first ?? null;
  const until = performance.now() + SEARCH_MS;
  for (let read = 0; read < MAX_SEARCHED_PAGES; read++) {
    const page: RunPage = await everloop.listPage({
      ...options,
      limit: status === null ? MAX_ROWS : PAGE_OF_ENDED,
      ...defined({ cursor: cursor ?? undefined }),
    });
    const fitting = page.runs.filter((run) => hasText(run, text));
    if (status === null) {
      runs.push(...fitting);
    } else {
      const ended = fitting.filter(({ state }) => state === 'completed').map(({ id }) => id);
      const found = await statusOf(ended);
      runs.push(...fitting.filter(({ id, state }) => state === status || found.get(id) === status));
    }
    ({ cursor } = page);
    const isFull = runs.length >= (options.limit ?? MAX_ROWS);
    if (cursor === null || isFull || performance.now() > until) break;
  }
  return { runs, cursor };
}

function hasText({ id, agent, task }: RunSummary, text: string): boolean {
  return text === '' || [id, agent, task].some((field) => field.toLowerCase().includes(text));
}
