/**
 * Reads the transcript or the events of a run from all of its links. Each link has its own items
 * and the id of the link before it. Items of earlier links come from the archive if it has them
 * all, or else from the links. Those of an ended run come from the archive alone, if it has them.
 */
import type { Client } from '@temporalio/client';
import { memberOf, type Json } from '../core/base/json.ts';
import { shown } from '../core/text/shown.ts';
import { createPageReader, type PagePosition } from '../core/contract/page.ts';
import type { LinkPage } from '../core/contract/messages.ts';
import type { Step } from '../core/contract/step.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { eventsQuery, statusQuery, transcriptQuery } from '../workflows/messages.ts';
import { isAlive, querying, readStep } from './service-calls.ts';
import { tolerant } from './connection/open-connection.ts';

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
  readonly archive: ArchiveReader | undefined;
}

/**
 * All items of the chain from `request.from` on, in order.
 *
 * @throws UsageError `number` for an invalid `from`; `run_not_found`, `not_an_agent`, `no_worker`.
 */
export async function readChain(request: ChainRequest): Promise<readonly Json[]> {
  const { from } = request;
  if (!Number.isSafeInteger(from) || from < 0) {
    throw new UsageError('number', `Expected \`from\` from 0 up, got ${shown(from)}. Change it.`);
  }
  return (await readArchived(request)) ?? readLink(request, undefined, from);
}

/**
 * The items of a run that has ended, from the archive alone; null when it does not have them. No
 * worker has to replay the run for them, and none has to be there.
 */
async function readArchived(request: ChainRequest): Promise<readonly Json[] | null> {
  const { archive, client, id, kind, from } = request;
  if (archive === undefined) return null;
  const step = await stepOfEnded(client, id).catch(() => null);
  if (step === null) return null;
  const read = (list: ChainList, first: number): Promise<readonly Json[]> =>
    archive.read(step.runId, list, first, Number.MAX_SAFE_INTEGER);
  const events = await read('events', 0);
  // The events of a link are archived after its entries.
  if (memberOf(events.at(-1), 'type') !== 'agent:execution:after') return null;
  return kind === 'events' ? events.slice(from) : read('entries', from);
}

/** Null for a live run. */
async function stepOfEnded(client: Client, id: string): Promise<Step | null> {
  const { status } = await tolerant(client).workflow.getHandle(id).describe();
  return isAlive(status.name) ? null : readStep(client, id);
}

/** The items from `from` on of link `executionId` and the links before it. */
async function readLink(
  request: ChainRequest,
  executionId: string | undefined,
  from: number,
): Promise<readonly Json[]> {
  const own = await readOwn(request, executionId, from);
  // Pages of two links do not fit together: start over with the current last link.
  if (own === null) return readLink(request, executionId, from);
  const { first, previous, items } = own;
  if (from >= first || previous === null) return items;
  return [...(await readEarlier(request, previous, from, first)), ...items];
}

async function readEarlier(
  request: ChainRequest,
  previous: string,
  from: number,
  until: number,
): Promise<readonly Json[]> {
  const { archive, client, id, kind } = request;
  if (archive !== undefined) {
    const { runId } = await querying(id, client, () =>
      client.workflow.getHandle(id).query(statusQuery),
    );
    const archived = await archive.read(runId, kind, from, until);
    if (archived.length === until - from) return archived;
  }
  const read = await readLink(request, previous, from);
  return read.slice(0, until - from);
}

/** The part of the list that one link has. */
interface OwnItems {
  /** Index of its first item in the chain. */
  readonly first: number;
  readonly previous: string | null;
  readonly items: readonly Json[];
}

/** Null when the run handed over between two pages, so that another link answered. */
async function readOwn(
  { client, id, kind }: ChainRequest,
  executionId: string | undefined,
  from: number,
): Promise<OwnItems | null> {
  const handle = client.workflow.getHandle(id, executionId);
  const ask = (at: PagePosition): Promise<LinkPage> =>
    querying(id, client, () =>
      kind === 'events'
        ? handle.query(eventsQuery, { from: at })
        : handle.query(transcriptQuery, { view: 'history', from: at }),
    );
  const reader = createPageReader();
  let page = await ask({ index: from, offset: 0 });
  const { first, previous } = page;
  const items = [...reader.read(page)];
  while (page.next !== null) {
    page = await ask(page.next);
    if (page.previous !== previous) return null;
    items.push(...reader.read(page));
  }
  return { first, previous, items };
}
