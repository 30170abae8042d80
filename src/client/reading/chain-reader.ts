/**
 * Reads the transcript or the events of a run from all of its links. Each link has its own items
 * and the id of the link before it. Items of earlier links come from the archive if it has them
 * all, or else from the links. Those of an ended run come from the archive alone, if it has them.
 *
 * I1  Only what a range needs is read: no link after it, and no page beyond it but of a closed link.
 * I2  A page of a closed link is read once by a client.
 */
import type { Client } from '@temporalio/client';
import { defined } from '../../core/base/defined.ts';
import type { Json } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import { createPageReader, type PagePosition } from '../../core/contract/page.ts';
import type { LinkPage } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { eventsQuery, statusQuery, transcriptQuery } from '../../workflows/messages.ts';
import { stepOrNull } from './ended-run.ts';
import type { KeptLinks, Segment } from './kept-links.ts';
import { describeRun } from '../connection/own-run.ts';
import { queryAny, queryClosed, type QueriedRun } from './run-reader.ts';
import { isAlive } from '../connection/service-calls.ts';

/** The lists of a run: its transcript entries and its events. */
export type ChainList = 'entries' | 'events';

/** Reads the archived pages of earlier links. */
export interface ArchiveReader {
  /** Items `from` to `until` - 1 of the chain `runId`; fewer if some are missing. */
  read(runId: string, list: ChainList, from: number, until: number): Promise<readonly Json[]>;
}

/** What to read. */
export interface ChainRequest {
  readonly client: Client;
  /** Workflow id of the run. */
  readonly id: string;
  readonly kind: ChainList;
  /** Index of the first item. */
  readonly from: number;
  /** At most this many items; default: all to the end. */
  readonly limit?: number;
  readonly archive: ArchiveReader | undefined;
  /** What the client has read of closed links. */
  readonly kept?: KeptLinks;
}

/** A part of the chain: items `from` to `until` - 1. */
interface Range {
  readonly from: number;
  readonly until: number;
}

/** A run that has ended. */
interface EndedRun {
  /** Run id of its last link. */
  readonly executionId: string;
  /** Null if it ended without one. */
  readonly step: Step | null;
}

/** A request, and what is known of its run. */
interface Reading extends ChainRequest {
  /** Null for a live run. */
  readonly ended: EndedRun | null;
  /** How many forks were followed to get here; default: none. */
  readonly forks?: number;
}

/**
 * The items of the chain from `request.from` on, in order.
 *
 * @throws UsageError `number` for an invalid `from` or `limit`; `run_not_found`, `not_an_agent`,
 * `no_worker`.
 */
export async function readChain(request: ChainRequest): Promise<readonly Json[]> {
  const { client, id, from, limit } = request;
  requireNumber('from', from, 0);
  if (limit !== undefined) requireNumber('limit', limit, 1);
  const range = { from, until: limit === undefined ? Infinity : from + limit };
  const ended = await endedRun(client, id).catch(() => null);
  const reading = { ...request, ended };
  return (await readArchived(reading, range)) ?? readLink(reading, ended?.executionId, range);
}

function requireNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const message = `Expected \`${name}\` from ${least} up, got ${shown(value)}. Change it.`;
  throw new UsageError('number', message);
}

/** Null for a live run. */
async function endedRun(client: Client, id: string): Promise<EndedRun | null> {
  const { status, runId } = await describeRun(client, id);
  if (isAlive(status.name)) return null;
  return { executionId: runId, step: await stepOrNull(client, id) };
}

/**
 * The items of a run that has ended, from the archive alone; null when it does not have them. No
 * worker has to replay the run for them, and none has to be there.
 */
async function readArchived(
  { archive, kind, ended }: Reading,
  { from, until }: Range,
): Promise<readonly Json[] | null> {
  const step = ended?.step ?? null;
  if (archive === undefined || step === null) return null;
  const { runId, trace } = step;
  const end = Math.min(until, trace.chain[kind]);
  if (from >= end) return [];
  const items = await archive.read(runId, kind, from, end);
  return items.length === end - from ? items : null;
}

/** The items of `range` in link `executionId` and the links before it; undefined: the last link. */
async function readLink(
  reading: Reading,
  executionId: string | undefined,
  range: Range,
): Promise<readonly Json[]> {
  const { from, until } = range;
  const own = await readOwn(reading, executionId, range);
  // Pages of two links do not fit together: start over with the current last link.
  if (own === null) return readLink(reading, executionId, range);
  const { first, previous, forkedFrom, items } = own;
  if (from >= first) return items;
  const before = { from, until: Math.min(first, until) };
  if (previous !== null) return [...(await readEarlier(reading, previous, before)), ...items];
  if (forkedFrom === undefined) return items;
  return [...(await readSource(reading, forkedFrom, before)), ...items];
}

/** How many forks of forks a chain is followed through. */
const MAX_FORKS = 100;

/** The items of a fork's source before the moment: what the fork shares with it. */
async function readSource(
  { client, kind, archive, forks = 0 }: Reading,
  { workflowId: id, runId, executionId }: NonNullable<LinkPage['forkedFrom']>,
  range: Range,
): Promise<readonly Json[]> {
  if (forks >= MAX_FORKS) return [];
  const archived = await archive?.read(runId, kind, range.from, range.until);
  if (archived?.length === range.until - range.from) return archived;
  // Its link may be open, so no page of it is kept.
  const reading = { client, id, kind, archive, ended: null, from: range.from, forks: forks + 1 };
  const items = await readLink(reading, executionId, range);
  return items.slice(0, range.until - range.from);
}

async function readEarlier(
  reading: Reading,
  previous: string,
  { from, until }: Range,
): Promise<readonly Json[]> {
  const { archive, client, id, kind, ended } = reading;
  if (archive !== undefined) {
    const runId =
      ended?.step?.runId ?? (await queryAny(client, id, (run) => run.query(statusQuery))).runId;
    const archived = await archive.read(runId, kind, from, until);
    if (archived.length === until - from) return archived;
  }
  return readLink(reading, previous, { from, until });
}

/** The part of a range that one link has. */
type OwnItems = Pick<Segment, 'first' | 'previous' | 'forkedFrom' | 'items'>;

/** Null when the run handed over between two pages, so that another link answered. */
async function readOwn(
  reading: Reading,
  executionId: string | undefined,
  { from, until }: Range,
): Promise<OwnItems | null> {
  const items: Json[] = [];
  let at = from;
  for (let head: Segment | undefined; ;) {
    const segment = await readSegment(reading, executionId, { from: at, until });
    if (segment === null || (head !== undefined && segment.previous !== head.previous)) return null;
    head ??= segment;
    const { first, previous, forkedFrom, start } = segment;
    for (const item of segment.items.slice(Math.max(0, at - start))) items.push(item);
    at = start + segment.items.length;
    if (segment.isLast || at >= until) {
      const own = items.slice(0, Math.max(0, until - Math.max(from, first)));
      return { first, previous, ...defined({ forkedFrom }), items: own };
    }
  }
}

/** The next items of a link, at least one if there are any; null as in {@link readOwn}. */
async function readSegment(
  reading: Reading,
  executionId: string | undefined,
  range: Range,
): Promise<Segment | null> {
  const { kept, kind } = reading;
  if (executionId === undefined) return askSegment(reading, undefined, range);
  const key = `${executionId}/${kind}`;
  const known = kept?.find(key, range.from);
  if (known !== undefined) return known;
  // The whole page, because a smaller one costs a worker the same replay.
  const segment = await askSegment(reading, executionId, { ...range, until: Infinity });
  if (segment !== null) kept?.add(key, segment);
  return segment;
}

async function askSegment(
  { client, id, kind }: Reading,
  executionId: string | undefined,
  { from, until }: Range,
): Promise<Segment | null> {
  const limit = Number.isFinite(until) ? { limit: until - from } : {};
  const ask = (at: PagePosition): Promise<LinkPage> => {
    const query = (run: QueriedRun): Promise<LinkPage> =>
      kind === 'events'
        ? run.query(eventsQuery, { from: at, ...limit })
        : run.query(transcriptQuery, { view: 'history', from: at, ...limit });
    if (executionId === undefined) return queryAny(client, id, query);
    return queryClosed(client, { id, executionId }, query);
  };
  const reader = createPageReader();
  let page = await ask({ index: from, offset: 0 });
  const { first, previous, forkedFrom } = page;
  const items = [...reader.read(page)];
  // An item that is larger than a page comes in parts.
  while (items.length === 0 && page.next !== null) {
    page = await ask(page.next);
    if (page.previous !== previous) return null;
    items.push(...reader.read(page));
  }
  const start = Math.max(from, first);
  const isLast = page.next === null;
  return { first, previous, ...defined({ forkedFrom }), start, items, isLast };
}
