/** Appends the pages of a link that is about to hand over to the archive. */
import { Context } from '@temporalio/activity';
import type { Json } from '../core/base/json.ts';
import { createPageReader, type PagePosition } from '../core/contract/page.ts';
import {
  MESSAGE_NAMES,
  type EventsRequest,
  type LinkPage,
  type TranscriptRequest,
} from '../core/contract/messages.ts';
import type { ArchiveOrder } from './activity-types.ts';
import { withHeartbeat } from './heartbeat.ts';

/** The lists of a run that are archived. */
export type ArchivedList = 'entries' | 'events';

/** Where pages are kept that the service will forget. Append-only. */
export interface Archive {
  /**
   * Keeps the items of one link, whose first has index `first` in the chain. Called again with the
   * same link after a lost worker: the result is the same.
   */
  write(link: ArchivedLink, items: readonly Json[]): Promise<void>;
  /** Items with index `from` to `until` - 1 of the chain; fewer when some are missing. */
  read(runId: string, list: ArchivedList, from: number, until: number): Promise<readonly Json[]>;
}

/** Names one list of one link of a chain. */
export interface ArchivedLink {
  readonly runId: string;
  readonly link: number;
  readonly list: ArchivedList;
  readonly first: number;
}

/** The archive activity of a worker. */
export function createArchiveTranscript(archive: Archive): (order: ArchiveOrder) => Promise<void> {
  return ({ runId, link, firstEvent, firstEntry }) =>
    withHeartbeat(async () => {
      const entries = await readAll('entries', firstEntry);
      await archive.write({ runId, link, list: 'entries', first: firstEntry }, entries);
      const events = await readAll('events', firstEvent);
      await archive.write({ runId, link, list: 'events', first: firstEvent }, events);
    });
}

/** All items of the calling workflow's own execution, page by page. */
async function readAll(list: ArchivedList, first: number): Promise<readonly Json[]> {
  const { client, info } = Context.current();
  const { workflowId = '', runId } = info.workflowExecution ?? {};
  const handle = client.workflow.getHandle(workflowId, runId);
  const ask = (from: PagePosition): Promise<LinkPage> =>
    list === 'events'
      ? handle.query<LinkPage, [EventsRequest]>(MESSAGE_NAMES.events, { from })
      : handle.query<LinkPage, [TranscriptRequest]>(MESSAGE_NAMES.transcript, {
          view: 'history',
          from,
        });
  const reader = createPageReader();
  const items: Json[] = [];
  let next: PagePosition | null = { index: first, offset: 0 };
  while (next !== null) {
    const from: PagePosition = next;
    const page = await client.withDeadline(Date.now() + PAGE_DEADLINE_MS, () => ask(from));
    items.push(...reader.read(page));
    next = page.next;
  }
  return items;
}

/** A query that waits longer is asked again by the activity's retry. */
const PAGE_DEADLINE_MS = 8_000;
