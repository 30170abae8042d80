/**
 * Which histories are replayed: those of given runs, a sample of the service, or files.
 *
 * I1  A sample takes from each group of runs in turn, newest first. A group has one agent, one
 *     state and one age, so a rare kind of run is in a small sample too.
 * I2  A link is fetched when it is taken, so only one is in memory at a time.
 */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { parsedJson } from '../client/streaming/parsed-json.ts';
import { refuseForeign } from '../client/connection/own-run.ts';
import { isNotFound } from '../client/connection/service-errors.ts';
import { readRunHistories, runHistoryOf, type RunHistory } from './run-history.ts';
import { tolerant } from '../client/connection/open-connection.ts';

/** What {@link sampleOf} takes of the service. */
export interface SampleOptions {
  /** A condition of Temporal's list filter, such as `StartTime > '2026-11-01T00:00:00Z'`. */
  readonly query?: string;
  /** How many links at most, 1 or more. */
  readonly sample: number;
}

/** Listed at most, newest first; a sample is drawn from them. */
const MAX_LISTED = 10_000;

const DAY_MS = 86_400_000;

/** A sample of the links that the service has. */
export async function* sampleOf(
  client: Client,
  { query, sample }: SampleOptions,
): AsyncGenerator<RunHistory> {
  const own = `WorkflowType = '${AGENT_WORKFLOW}'`;
  const filter = query === undefined ? own : `${own} AND (${query})`;
  const groups = new Map<string, WorkflowExecutionInfo[]>();
  let listed = 0;
  for await (const info of tolerant(client).workflow.list({ query: filter })) {
    const key = groupOf(info, Date.now());
    groups.set(key, [...(groups.get(key) ?? []), info]);
    listed += 1;
    if (listed === MAX_LISTED) break;
  }
  for (const { workflowId, runId } of inTurns([...groups.values()], sample)) {
    const link = await fetchLink(client, workflowId, runId);
    if (link !== undefined) yield link;
  }
}

function groupOf({ memo, status, startTime }: WorkflowExecutionInfo, nowMs: number): string {
  const state = memo?.['waiting'] === true ? 'waiting' : status.name;
  // Days double: today, yesterday, up to three days, up to a week, …
  const age = Math.floor(Math.log2(1 + Math.max(0, nowMs - startTime.getTime()) / DAY_MS));
  return JSON.stringify([memo?.['agent'], state, age]);
}

/** The first of each group, then the second of each, until there are `count`. */
export function inTurns<Item>(
  groups: readonly (readonly Item[])[],
  count: number,
): readonly Item[] {
  const taken: Item[] = [];
  for (let place = 0; taken.length < count; place += 1) {
    const round = groups.flatMap((group) => group.slice(place, place + 1));
    if (round.length === 0) break;
    taken.push(...round.slice(0, count - taken.length));
  }
  return taken;
}

/**
 * All links of these runs that the service still has, newest first.
 *
 * @throws UsageError `run_not_found` for a run that it does not have, `not_an_agent`.
 */
export async function* linksOf(client: Client, ids: readonly string[]): AsyncGenerator<RunHistory> {
  for (const id of ids) {
    await refuseForeign(client, id);
    let runId: string | undefined = undefined;
    for (let isNewest = true; runId !== ''; isNewest = false) {
      const link: RunHistory | undefined = await fetchLink(client, id, runId);
      if (link === undefined) {
        if (!isNewest) break;
        throw new UsageError(
          'run_not_found',
          `Expected the run \`${id}\` to be known to the service, which does not have it. See \`everloop ps\`.`,
        );
      }
      yield link;
      runId = previousOf(link);
    }
  }
}

function previousOf({ history }: RunHistory): string {
  const started = history.events[0]?.['workflowExecutionStartedEventAttributes'];
  const id = (started as { readonly continuedExecutionRunId?: unknown }).continuedExecutionRunId;
  return typeof id === 'string' ? id : '';
}

/** One link; undefined if the service does not have it any more. */
async function fetchLink(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<RunHistory | undefined> {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return runHistoryOf(parsedJson(historyToJSON(history)));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The links in the JSON files of a folder, by name of file. */
export async function* linksIn(folder: string): AsyncGenerator<RunHistory> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();
  for (const name of names) {
    const links = readRunHistories(await readFile(join(folder, name), 'utf8'));
    if (links === undefined) {
      throw new UsageError(
        'invalid_input',
        `Expected the JSON files of \`${folder}\` to be histories, got \`${name}\`, which is none. Move it elsewhere.`,
      );
    }
    yield* links;
  }
}
