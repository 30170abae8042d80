/** Writes the pages of a link to the archive, before its hand-over. */
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

/** A store for what the service will delete. */
export interface Archive {
  /**
   * Stores what `link` names: one object of a store, or one file. Must be idempotent: it is called
   * again with the same link when a worker was lost. Rejects as `pages` does; nothing is stored then.
   */
  write(link: ArchivedLink, pages: ArchivedPages): Promise<void>;
  /** The items from index `from` to `until` - 1 of the chain; fewer when some are missing. */
  read(runId: string, list: ArchivedList, from: number, until: number): Promise<readonly Json[]>;
  /**
   * Notes that `fork` was made from the run `source`, and shows its pages up to the moment. Called
   * again when a worker was lost. Absent: the archive deletes nothing, or does not look at forks.
   */
  noteFork?(source: ForkedRun, fork: ForkOfRun): Promise<void>;
}

/** The source of a fork; `runId` is that of its first link. */
export type ForkedRun = Pick<ArchivedLink, 'runId' | 'run'>;

/** A fork; `runId` is that of its first link. */
export interface ForkOfRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** What is stored of one execution, a link of a chain. */
export interface ArchivedLink {
  /** That of the first link. */
  readonly runId: string;
  /** From 1. */
  readonly link: number;
  /** `pages`: what it said and did, when it ends; `history`: its history, when somebody saves that. */
  readonly kind: 'pages' | 'history';
  /** Indexes in the chain of its first entry and event. */
  readonly firstEntry: number;
  readonly firstEvent: number;
  /** The run whose chain it is, by which its key is chosen. */
  readonly run: { readonly namespace: string; readonly workflowId: string };
}

/** Items of a list, in order. */
export interface ArchivedPage {
  readonly list: ArchivedList;
  readonly items: readonly Json[];
}

/** The pages of an execution: those of one list after those of another. They come as they are read. */
export type ArchivedPages = Iterable<ArchivedPage> | AsyncIterable<ArchivedPage>;

/**
 * The archive activity of a worker. `hasStates`: the state that is handed over is archived too, so
 * that the run can be forked from there when the service has forgotten the link.
 */
export function createArchiveTranscript(
  archive: Archive,
  hasStates = true,
): (order: ArchiveOrder) => Promise<void> {
  return ({ runId, link, firstEvent, firstEntry }) =>
    withHeartbeat(() => {
      const run = runOfActivity();
      const pages = pagesOfLink({ firstEvent, firstEntry }, hasStates);
      return archive.write({ runId, link, kind: 'pages', firstEntry, firstEvent, run }, pages);
    });
}

function runOfActivity(): ArchivedLink['run'] {
  const { workflowExecution, namespace } = Context.current().info;
  return { namespace, workflowId: workflowExecution?.workflowId ?? '' };
}

async function* pagesOfLink(
  { firstEvent, firstEntry }: Pick<ArchivedLink, 'firstEvent' | 'firstEntry'>,
  hasStates: boolean,
): AsyncGenerator<ArchivedPage> {
  yield* readPages('entries', firstEntry);
  yield* readPages('events', firstEvent);
  if (hasStates) yield* await statesOfLink();
}

/** The one state of the link; none if it cannot be read, because what readers need is archived. */
async function statesOfLink(): Promise<readonly ArchivedPage[]> {
  const pages: ArchivedPage[] = [];
  try {
    for await (const page of readPages('states', 0)) pages.push(page);
    return pages;
  } catch (error) {
    const reason = errorText(error);
    Context.current().log.warn('The state of this link was not archived', { reason });
    return [];
  }
}

/** The items of the calling workflow's own execution, page by page. */
async function* readPages(list: ArchivedList, first: number): AsyncGenerator<ArchivedPage> {
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
  let next: PagePosition | null = { index: first, offset: 0 };
  while (next !== null) {
    const from: PagePosition = next;
    const page = await client.withDeadline(Date.now() + PAGE_DEADLINE_MS, () => ask(from));
    yield { list, items: reader.read(page) };
    next = page.next;
  }
}

/** Time limit of a query, in ms; the activity's retry asks again. */
const PAGE_DEADLINE_MS = 8_000;
