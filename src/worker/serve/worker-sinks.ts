/** The worker's side of the sinks: messages go into the cache, events to listeners. */
import type { InjectedSinks } from '@temporalio/worker';
import type { TranscriptCache } from '../../activities/transcript-source.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { Json } from '../../core/base/json.ts';
import type { EverloopSinks } from '../../workflows/sinks.ts';

/** Receives every event of every run on this worker, at least once, in `seq` order for each run. */
export type EventListener = (event: AgentEvent) => void;

/** Where the sinks write to. */
export interface SinkParts {
  readonly cache: TranscriptCache;
  readonly listeners: readonly EventListener[];
  /** Receives the errors of listeners, which never affect a run. */
  readonly onListenerError: (error: unknown, event: AgentEvent) => void;
}

/** Sinks for `Worker.create`. */
export function createSinks(parts: SinkParts): InjectedSinks<EverloopSinks> {
  const { cache, listeners, onListenerError } = parts;
  const notify = (event: AgentEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        onListenerError(error, event);
      }
    }
  };
  return {
    transcript: {
      append: {
        // A replay may run on a worker that has not seen these messages.
        callDuringReplay: true,
        fn: ({ namespace, workflowId, runId }, { epoch, from, head, messages }) => {
          const key = { namespace, workflowId, executionId: runId, epoch };
          // Index 0 is the head; the messages follow.
          if (head !== undefined) cache.append(key, 0, [head as unknown as Json]);
          cache.append(key, from + 1, messages as unknown as readonly Json[]);
        },
      },
    },
    events: {
      publish: {
        callDuringReplay: false,
        fn: (_info, events) => {
          for (const event of events) notify(event);
        },
      },
    },
  };
}
