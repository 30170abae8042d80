/** What a page about one run shows: its overview, and the iteration that is open. */
import type { Client } from '@temporalio/client';
import type { RunOverview, RunStatus } from '../core/contract/messages.ts';
import { EMPTY_STATS } from '../core/contract/stats.ts';
import type { CurrentIteration } from '../core/run/view.ts';
import { iterationQuery, viewQuery } from '../workflows/messages.ts';
import { queryOpen } from './reading/ended-run.ts';
import { budgetsOfEnded, limitsOfEnded, type EndedLimitsSource } from './reading/ended-limits.ts';
import { stillOpen } from './reading/open-items.ts';
import { readStats, readStatus } from './reading/run-status.ts';
import { findRun } from './tree-run.ts';

/** Where to read. */
export interface OverviewSource extends EndedLimitsSource {
  readonly client: Client;
}

/**
 * The overview of run `id`. A live run answers one query; that of an ended one is in its Step, and
 * its limits are in its archive.
 *
 * @throws UsageError as `querying`.
 */
export async function readOverview(source: OverviewSource, id: string): Promise<RunOverview> {
  const { client } = source;
  const open = await queryOpen(client, id, (handle) => handle.query(viewQuery));
  if (open === null) return endedOverview(source, id);
  if (open.answer !== null) {
    return { ...open.answer, pending: await stillOpen(client, open.answer.pending) };
  }
  return unloaded(await readStatus(client, id));
}

/** A run whose agent is not loaded yet. */
function unloaded(status: RunStatus): RunOverview {
  const { agent } = status;
  const place = { agent, path: agent, depth: 0, parent: null, children: [] };
  return { ...place, status, stats: EMPTY_STATS, limits: [], budgets: [], pending: [] };
}

async function endedOverview(source: OverviewSource, id: string): Promise<RunOverview> {
  const { client } = source;
  const { run, below } = await findRun(client, { id });
  const [status, stats] = [await readStatus(client, id), await readStats(client, id)];
  const { agent, path, depth, parent } = run;
  const children = below.flatMap(({ child }) => child ?? []);
  const place = { agent, path, depth, parent, children };
  const { step } = status;
  const limits = step === undefined ? [] : ((await limitsOfEnded(source, step)) ?? []);
  const budgets = step === undefined ? [] : budgetsOfEnded(step, limits);
  return { ...place, budgets, status, stats, limits, pending: [] };
}

/**
 * The iteration that is open; null between two iterations and after the end.
 *
 * @throws UsageError as `querying`.
 */
export async function readCurrent(client: Client, id: string): Promise<CurrentIteration | null> {
  const open = await queryOpen(client, id, (handle) => handle.query(iterationQuery));
  return open?.answer ?? null;
}
