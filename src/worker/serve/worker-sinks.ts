/** The worker's side of the sinks: messages go into the cache, events to listeners. */
import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Archive, ArchivedLink } from '../../activities/archive-transcript.ts';
import { errorText } from '../../core/base/error-text.ts';
import type { HeardCancels } from '../../activities/heard-cancels.ts';
import type { TranscriptCache } from '../../activities/transcript-source.ts';
import type { AgentEvent, EventPlace } from '../../core/contract/events.ts';
import type { Json } from '../../core/base/json.ts';
import { asCaller } from '../../tools/caller.ts';
import type { EndedLink, EverloopSinks } from '../../workflows/sinks.ts';

/**
 * Receives every event of every run on this worker, at least once, in `seq` order for each run, and
 * where the run stands.
 */
export type EventListener = (event: AgentEvent, place: EventPlace) => void;

/** Where the sinks write to. */
export interface SinkParts {
  readonly cache: TranscriptCache;
  /** Keeps the last link of each run; earlier ones are archived by an activity. */
  readonly archive?: Pick<Archive, 'write'>;
  readonly listeners: readonly EventListener[];
  /** Gets each run whose memo does not say what it waits for now. Default: nobody does. */
  readonly onUnlistedWaits?: (run: Pick<WorkflowInfo, 'workflowId' | 'runId'>) => void;
  /** Tells activities of this process what their workflows cancel. Default: nobody does. */
  readonly cancels?: Pick<HeardCancels, 'tell'>;
  /** Receives the errors of listeners, which never affect a run. */
  readonly onListenerError: (error: unknown, event: AgentEvent) => void;
}

/** A workflow task waits this long for a slow archive, which then finishes by itself. */
const MAX_ARCHIVE_MS = 3_000;

/** Never rejects. */
async function archiveLink(
  archive: Pick<Archive, 'write'>,
  run: ArchivedLink['run'],
  { entries, events, ...link }: EndedLink,
): Promise<void> {
  const pages = [
    { list: 'entries' as const, items: entries as unknown as readonly Json[] },
    { list: 'events' as const, items: events as unknown as readonly Json[] },
  ];
  try {
    await asCaller({ name: 'the archive', run: run.workflowId }, () =>
      archive.write({ ...link, kind: 'pages', run }, pages),
    );
  } catch (error) {
    // The pages stay readable by query until the service forgets this execution.
    const message = `The last pages of run ${run.workflowId} were not archived: ${errorText(error)}`;
    process.emitWarning(message, 'EverloopWarning');
  }
}

/** Sinks for `Worker.create`. */
export function createSinks(parts: SinkParts): InjectedSinks<EverloopSinks> {
  const { archive, cache, listeners, onListenerError } = parts;
  const notify = (run: string, event: AgentEvent, place: EventPlace): void => {
    for (const listener of listeners) {
      try {
        asCaller({ name: 'a listener of events', run }, () => listener(event, place));
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
    archive: {
      // This runs before the workflow task completes, so every link that ended is archived. If the
      // worker is lost, the task runs again, and so does this.
      write: {
        callDuringReplay: false,
        fn: async ({ namespace, workflowId }, link) => {
          if (archive === undefined) return;
          const written = archiveLink(archive, { namespace, workflowId }, link);
          await Promise.race([written, sleep(MAX_ARCHIVE_MS, undefined, { ref: false })]);
        },
      },
    },
    waits: {
      changed: { callDuringReplay: false, fn: (run) => parts.onUnlistedWaits?.(run) },
    },
    // A probe is replayed apart, with sinks of its own.
    probe: { boundary: NOTHING, call: NOTHING, child: NOTHING, answers: NOTHING },
    cancels: {
      tell: {
        callDuringReplay: false,
        fn: ({ runId }, abortId) => parts.cancels?.tell(runId, abortId),
      },
    },
    events: {
      publish: {
        callDuringReplay: false,
        fn: (info, events, place = placeWithout(info)) => {
          for (const event of events) notify(info.workflowId, event, place);
        },
      },
    },
  };
}

const NOTHING = { callDuringReplay: false, fn: (): void => undefined };

/** What is known of a run before it has a state. */
function placeWithout(info: WorkflowInfo): EventPlace {
  const { workflowId, firstExecutionRunId, root, startTime, runStartTime } = info;
  return {
    workflowId,
    link: 1,
    rootRunId: firstExecutionRunId,
    rootWorkflowId: root?.workflowId ?? workflowId,
    kind: 'agent',
    startedAt: startTime.getTime(),
    linkStartedAt: runStartTime.getTime(),
    historyEvents: info.historyLength,
    historyBytes: info.historySize,
  };
}
