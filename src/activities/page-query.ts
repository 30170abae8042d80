/**
 * Queries the calling workflow for a page of its transcript. To spare the service, each try has a
 * deadline, and the few tries are spaced by growing waits with jitter.
 */
import { Context } from '@temporalio/activity';
import { setTimeout as sleep } from 'node:timers/promises';
import { MESSAGE_NAMES, type LinkPage, type TranscriptRequest } from '../core/contract/messages.ts';
import { defined } from '../core/base/defined.ts';
import type { PageQuery } from './transcript-source.ts';

/** Deadline of a query in ms. After that, the worker is probably gone. */
const DEADLINE_MS = 8_000;

const TRIES = 4;
const FIRST_WAIT_MS = 100;

/** The query of a model or tool activity to the execution that scheduled it. */
export function createPageQuery(): PageQuery {
  return async ({ workflowId, executionId, epoch }, from) => {
    const { client, info, cancellationSignal: signal } = Context.current();
    const handle = client.workflow.getHandle(workflowId, executionId);
    if (info.attempt > 1) await resetStickyQueue(workflowId, executionId);
    for (let tries = 1; ; tries++) {
      try {
        const { stale = false, ...page } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
          handle.query<LinkPage, [TranscriptRequest]>(MESSAGE_NAMES.transcript, {
            view: 'scratchpad',
            ...defined({ epoch }),
            from,
          }),
        );
        return { page, stale };
      } catch (error) {
        // A cancel must not wait for three more tries.
        if (tries === TRIES || signal.aborted) throw error;
        await sleep(FIRST_WAIT_MS * 2 ** tries * (0.5 + Math.random()), undefined, { signal });
      }
    }
  };
}

/**
 * Tells the service to give the query to any worker. After a lost worker it would first wait for
 * the sticky time-out of about two seconds (measured).
 */
async function resetStickyQueue(workflowId: string, runId: string): Promise<void> {
  const { client, info } = Context.current();
  try {
    await client.workflowService.resetStickyTaskQueue({
      namespace: info.workflowNamespace ?? '',
      execution: { workflowId, runId },
    });
  } catch {
    // Only for speed: without it the query is answered after the time-out.
  }
}
