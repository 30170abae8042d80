/** Lists: the console itself, runs, what they have spent so far, and the inbox. */
import { LRUCache } from 'lru-cache';
import { VERSION } from '../../core/base/version.ts';
import { defined } from '../../core/base/defined.ts';
import type { StepStatus } from '../../core/contract/step.ts';
import { inTurns } from '../../client/connection/in-turns.ts';
import type {
  InboxAnswer,
  MetaAnswer,
  MissingPart,
  ProgressAnswer,
  RunProgress,
  RunsAnswer,
} from '../api.ts';
import { gather, within } from '../bounded-reads.ts';
import { MAX_WAITING, rowOf } from '../console-client.ts';
import { createCursors } from '../cursors.ts';
import { apiErrorOf, invalid } from '../refusal.ts';
import { budgetsOf } from '../run-header.ts';
import type { RunReader } from '../run-reader.ts';
import type { AddRoutes, RouteParts } from './route-parts.ts';
import { filterOf, searchRuns } from './run-search.ts';

/** Ids of one question for progress: what a screen shows. */
const MAX_PROGRESS = 60;

/** How long the progress of all runs of a question may take, in ms. */
const PROGRESS_MS = 10_000;

/** Progress of ended runs that is kept. */
const MAX_KEPT = 5_000;

/** Adds `/meta`, `/runs`, `/runs/progress` and `/inbox`. */
export const addListRoutes: AddRoutes = (app, parts) => {
  const { everloop, reads, agents, place } = parts;
  app.get('/meta', (c) => {
    const { role, user } = c.get('asker');
    const answer: MetaAnswer = {
      version: VERSION,
      address: place.address,
      namespace: place.namespace,
      temporalUi: place.temporalUi,
      role,
      user,
      abilities: { events: 'pushed', agents: agents.hasDefinitions, workers: true },
      at: Date.now(),
    };
    return c.json(answer);
  });
  const progress = createProgress(parts);
  const cursors = createCursors();
  const statusOf = async (ids: readonly string[]): Promise<ReadonlyMap<string, StepStatus>> => {
    if (ids.length === 0) return new Map();
    const { runs } = await progress(ids);
    return new Map(runs.flatMap(({ id, status }) => (status === undefined ? [] : [[id, status]])));
  };
  app.get('/runs', async (c) => {
    const { cursor, ...query } = c.req.query();
    const filter = filterOf({ ...query, ...defined({ cursor: cursors.opened(cursor) }) });
    const { agent, schedule, tenant, roots, since } = filter.options;
    const key = JSON.stringify(filter);
    const { page, counts, partial } = await gather({
      page: reads.once(`runs ${key}`, () => searchRuns(everloop, filter, statusOf)),
      // Those of a schedule cannot be counted.
      counts:
        schedule === undefined
          ? reads.once(`counts ${JSON.stringify([agent, tenant, roots, since])}`, () =>
              everloop.counts(defined({ agent, tenant, roots, since })),
            )
          : Promise.resolve(null),
    });
    const answer: RunsAnswer = {
      rows: (page?.runs ?? []).map(rowOf),
      cursor: cursors.sealed(page?.cursor ?? null),
      counts: counts ?? null,
      ...defined({ partial }),
    };
    return c.json(answer);
  });
  app.get('/runs/progress', async (c) => c.json(await progress(c.req.queries('id') ?? [])));
  app.get('/inbox', async (c) => {
    const { inbox, partial } = await gather({
      inbox: reads.once('inbox', () => everloop.inbox({ limit: MAX_WAITING })),
    });
    const answer: InboxAnswer = {
      items: inbox?.items ?? [],
      silent: inbox?.silent ?? [],
      more: inbox?.more ?? 0,
      ...defined({ partial }),
    };
    return c.json(answer);
  });
};

/** Reads the progress of runs, a few at a time, and keeps that of ended ones. */
function createProgress({
  reader,
  everloop,
}: RouteParts): (ids: readonly string[]) => Promise<ProgressAnswer> {
  const ended = new LRUCache<string, RunProgress>({ max: MAX_KEPT });
  return async (ids) => {
    if (ids.length === 0 || ids.length > MAX_PROGRESS) {
      throw invalid(`Expected 1 to ${MAX_PROGRESS} ids, got ${ids.length}. Ask for fewer.`);
    }
    const partial: MissingPart[] = [];
    const until = performance.now() + PROGRESS_MS;
    const read = await inTurns(ids, async (id) => {
      const known = ended.get(id);
      if (known !== undefined) return [known];
      try {
        everloop.attach(id);
        // All of them together have the time of one answer.
        const left = Math.max(0, until - performance.now());
        const found = await within(left, progressOf(id, reader));
        if (found.state === 'ended') ended.set(id, found);
        return [found];
      } catch (error) {
        const { code, message } = apiErrorOf(error);
        if (code === 'no_worker' || code === 'busy') return [silentProgress(id)];
        partial.push({ part: id, code, message });
        return [];
      }
    });
    return { runs: read.flat(), ...defined({ partial: partial.length > 0 ? partial : undefined }) };
  };
}

async function progressOf(id: string, reader: RunReader): Promise<RunProgress> {
  const view = await reader.overview(id);
  const { status, children } = view;
  const { state, iteration, usage, waitsFor, step } = status;
  return {
    id,
    state,
    iteration,
    tokens: usage.totalTokens,
    costMicroUsd: usage.costMicroUsd,
    tightest: budgetsOf(view)[0] ?? null,
    waitsFor,
    children: children.length,
    ...defined({ status: step?.status }),
  };
}

function silentProgress(id: string): RunProgress {
  const nothing = { iteration: 0, tokens: 0, costMicroUsd: 0, tightest: null, waitsFor: [] };
  return { id, state: 'silent', ...nothing, children: 0 };
}
