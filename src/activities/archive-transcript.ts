/** Appends the pages of a link to the archive, before its hand-over. */
import { Context } from '@temporalio/activity';
import { errorText } from '../core/base/error-text.ts';
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

/** The lists of a run that are archived; `histories` on request only. */
export type ArchivedList = 'entries' | 'events' | 'states' | 'histories';

/** An append-only store for pages that the service will delete. */
export interface Archive {
  /**
   * Stores the items of one link, the first at index `first` of the chain. Must be idempotent: it
   * is called again with the same link when a worker was lost.
   */
  write(link: ArchivedLink, items: readonly Json[]): Promise<void>;
  /** The items from index `from` to `until` - 1 of the chain; fewer when some are missing. */
  read(runId: string, list: ArchivedList, from: number, until: number): Promise<readonly Json[]>;
  /**
   * Notes that `fork` was made from the run `source`, and shows its pages up to the moment. Called
   * again when a worker was lost. Absent: the archive deletes nothing, or does not look at forks.
   */
  noteFork?(source: ForkedRun, fork: ForkOfRun): Promise<void>;
}

/** The source of a fork; `runId` is that of its first link. */
export type ForkedRun = Required<Pick<ArchivedLink, 'runId' | 'run'>>;

/** A fork; `runId` is that of its first link. */
export interface ForkOfRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** Identifies one list of one link of a chain. */
export interface ArchivedLink {
  readonly runId: string;
  readonly link: number;
  readonly list: ArchivedList;
  readonly first: number;
  /** The run whose chain it is, by which its key is chosen. */
  readonly run?: { readonly namespace: string; readonly workflowId: string };
}

/**
 * The archive activity of a worker. `hasStates`: the state that is handed over is archived too, so
 * that the run can be forked from there when the service has forgotten the link.
 */
export function createArchiveTranscript(
  archive: Archive,
  hasStates = true,
): (order: ArchiveOrder) => Promise<void> {
  return ({ runId, link, firstEvent, firstEntry }) =>
    withHeartbeat(async () => {
      const run = runOfActivity();
      const entries = await readAll('entries', firstEntry);
      await archive.write({ runId, link, list: 'entries', first: firstEntry, run }, entries);
      const events = await readAll('events', firstEvent);
      await archive.write({ runId, link, list: 'events', first: firstEvent, run }, events);
      if (!hasStates) return;
      try {
        const states = await readAll('states', 0);
        await archive.write({ runId, link, list: 'states', first: link - 1, run }, states);
      } catch (error) {
        // What readers need is archived; only forks from this link need its state.
        const reason = errorText(error);
        Context.current().log.warn('The state of this link was not archived', { reason });
      }
    });
}

function runOfActivity(): NonNullable<ArchivedLink['run']> {
  const { workflowExecution, namespace } = Context.current().info;
  return { namespace, workflowId: workflowExecution?.workflowId ?? '' };
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
          view: list === 'states' ? 'state' : 'history',
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

/** Time limit of a query, in ms; the activity's retry asks again. */
const PAGE_DEADLINE_MS = 8_000;
