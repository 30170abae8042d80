/**
 * The context of a run, for tools that read it. Orders of calls stay in history, so they do not carry
 * it: a worker queries the run once for each of its links.
 */
import { LRUCache } from 'lru-cache';
import { Context } from '@temporalio/activity';
import { byteSize, type JsonObject } from '../core/base/json.ts';
import { createPageReader, type PagePosition } from '../core/contract/page.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { nameOf, type PageQuery, type TranscriptKey } from './transcript-source.ts';

/** The context of the run that scheduled the current activity. Rejects if the run does not answer. */
export type ContextSource = () => Promise<JsonObject | undefined>;

/** Bytes of JSON of the contexts that a worker keeps; a start has at most 1.5 MB. */
const MAX_KEPT_BYTES = 16_777_216;

type LinkKey = Omit<TranscriptKey, 'epoch'>;

interface KnownContext {
  readonly context?: JsonObject | undefined;
}

/** A source that asks by `query`; calls that come at the same time share an answer. */
export function createContextSource(query: PageQuery): ContextSource {
  const known = new LRUCache<string, KnownContext, LinkKey>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ context = {} }) => byteSize(context),
    fetchMethod: async (_name, _stale, { context: key }) => {
      const { context } = await headOf(query, key);
      return { context };
    },
  });
  return async () => {
    const { workflowNamespace, workflowExecution } = Context.current().info;
    const key: LinkKey = {
      namespace: workflowNamespace ?? '',
      workflowId: workflowExecution?.workflowId ?? '',
      executionId: workflowExecution?.runId ?? '',
    };
    const found = await known.fetch(nameOf({ ...key, epoch: 0 }), { context: key });
    return found?.context;
  };
}

/** The head of the transcript, which is its first item and may have several pages. */
async function headOf(query: PageQuery, key: LinkKey): Promise<TranscriptHead> {
  const reader = createPageReader();
  let next: PagePosition | null = { index: 0, offset: 0 };
  while (next !== null) {
    const { page, stale }: Awaited<ReturnType<PageQuery>> = await query(key, next);
    const [head] = reader.read(page);
    if (head !== undefined) return head as unknown as TranscriptHead;
    next = stale ? null : page.next;
  }
  throw new Error('the run has not begun on the worker that answered');
}
