/**
 * Replays histories with this code, and says where one does not fit. Nothing is sent to the service,
 * and no activity runs.
 */
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker, type InjectedSinks, type ReplayWorkerOptions } from '@temporalio/worker';
import { errorText } from '../core/base/error-text.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import { workerConverter } from '../protection/worker-converter.ts';
import { NO_PROTECTION, type Protection } from '../protection/protection.ts';
import { installRuntime } from '../worker/serve/install-runtime.ts';
import type { LoadedBundle } from '../worker/bundle/bundle.ts';
import type { EverloopSinks } from '../workflows/sinks.ts';
import { patchesOf, type HistoryEvent, type RunHistory } from './run-history.ts';

/** Why and where a history does not fit. */
export interface Misfit {
  readonly kind: 'misfit';
  /** What the code did and what the history says, in the words of the SDK. */
  readonly message: string;
  /** The event of the history that does not fit; null if it is not known. */
  readonly event: { readonly id: number; readonly type: string } | null;
  /** The last event of the run that the code still made. */
  readonly after: { readonly seq: number; readonly type: string } | null;
  /** Patches of the history that this code does not have. */
  readonly unknownPatches: readonly string[];
}

/** What came of a replay. */
export interface Replayed {
  readonly link: RunHistory;
  readonly result: { readonly kind: 'fits' } | Misfit;
}

/** How far the code has come in a link. */
interface Progress {
  readonly link: RunHistory;
  last: AgentEvent | null;
  /** Events of history that the code had seen when it made the last one. */
  seen: number;
}

/** Replays links with a bundle of workflows, one after another. */
export async function* replayLinks(
  links: AsyncIterable<RunHistory> | Iterable<RunHistory>,
  workflowBundle: LoadedBundle,
  protection: Protection = NO_PROTECTION,
): AsyncGenerator<Replayed> {
  // The SDK logs each history that does not fit, with all of its failure.
  installRuntime({ logLevel: 'ERROR' });
  const open = new Map<string, Progress>();
  const sinks = watchingSinks(open);
  const options: ReplayWorkerOptions = {
    workflowBundle,
    // The types of the SDK want a class for each sink.
    sinks: sinks as unknown as NonNullable<ReplayWorkerOptions['sinks']>,
    dataConverter: workerConverter(protection),
  };
  const histories = async function* () {
    for await (const link of links) {
      open.set(keyOf(link), { link, last: null, seen: 0 });
      yield { workflowId: link.workflowId, history: link.history };
    }
  };
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(
    options,
    histories(),
  )) {
    const key = keyOf({ workflowId, runId });
    const progress = open.get(key);
    if (progress === undefined) continue;
    open.delete(key);
    const { link } = progress;
    const result =
      error === undefined ? ({ kind: 'fits' } as const) : misfit(error, progress, workflowBundle);
    const lacksStore =
      protection.blobs === undefined && result.kind === 'misfit' && usesBlobs(link);
    yield { link, result: lacksStore ? { ...result, message: NO_STORE } : result };
  }
}

function keyOf({ workflowId, runId }: Pick<RunHistory, 'workflowId' | 'runId'>): string {
  return `${runId} ${workflowId}`;
}

/** Sinks that keep nothing but the last event of each link. */
function watchingSinks(open: ReadonlyMap<string, Progress>): InjectedSinks<EverloopSinks> {
  return {
    transcript: { append: { fn: () => undefined, callDuringReplay: false } },
    archive: { write: { fn: () => undefined, callDuringReplay: false } },
    waits: { changed: { fn: () => undefined, callDuringReplay: false } },
    probe: { boundary: NOTHING, call: NOTHING, child: NOTHING, answers: NOTHING },
    cancels: { tell: { fn: () => undefined, callDuringReplay: false } },
    events: {
      publish: {
        callDuringReplay: true,
        fn: ({ workflowId, runId, historyLength }, events) => {
          const progress = open.get(keyOf({ workflowId, runId }));
          if (progress === undefined) return;
          progress.last = events.at(-1) ?? progress.last;
          progress.seen = historyLength;
        },
      },
    },
  };
}

const NOTHING = { fn: (): void => undefined, callDuringReplay: false };

/** Enough of what the SDK says; the rest is its own frame. */
const MAX_MESSAGE = 500;

function misfit(error: unknown, { link, last, seen }: Progress, { code }: LoadedBundle): Misfit {
  const message = messageOf(error);
  return {
    kind: 'misfit',
    message,
    event: error instanceof DeterminismViolationError ? eventOf(link, message, seen) : null,
    after: last === null ? null : { seq: last.seq, type: last.type },
    unknownPatches: patchesOf(link).filter((patch) => !code.includes(patch)),
  };
}

const NO_STORE =
  'Expected the blob store of the run, got none. Set EVERLOOP_BLOBS to the store of the workers.';

/** Whether payloads of a link lie in a blob store. With keys, the SDK's own failure is encrypted. */
function usesBlobs({ history }: RunHistory): boolean {
  return JSON.stringify(history).includes('"externalPayloads":[{');
}

/** The first message of a failure in the words of the SDK. */
const FAILURE = /Failure \{ message: "((?:[^"\\]|\\.)+)"/;

function messageOf(error: unknown): string {
  const text = errorText(error);
  const keyId = /encrypted with key (\S{1,128}), which/.exec(text)?.[1];
  if (keyId !== undefined) {
    return `Expected key \`${keyId}\` to replay the run, got no such key. Set EVERLOOP_KEYS.`;
  }
  const said = /Nondeterminism error: ([^]*?)", source:/.exec(text) ?? FAILURE.exec(text);
  return (said?.[1] ?? text).slice(0, MAX_MESSAGE);
}

/** Events that a command of the workflow makes. */
const COMMAND_EVENT =
  /_(?:ACTIVITY_TASK_SCHEDULED|ACTIVITY_TASK_CANCEL_REQUESTED|TIMER_STARTED|TIMER_CANCELED|MARKER_RECORDED|INITIATED|PROPERTIES_MODIFIED|SEARCH_ATTRIBUTES|CONTINUED_AS_NEW|EXECUTION_COMPLETED|EXECUTION_FAILED|EXECUTION_CANCELED)$/;

/**
 * The event that does not fit: the SDK names it, or else it is the first command after what the code
 * had seen, of the type that the SDK names.
 */
function eventOf(link: RunHistory, message: string, seen: number): Misfit['event'] {
  const { events } = link.history;
  const named = /HistoryEvent\(id: (\d+)/.exec(message)?.[1];
  const activity = /scheduled event '([^']+)'/.exec(message)?.[1];
  const commands = events.filter(
    ({ eventId, eventType }) => Number(eventId) > seen && COMMAND_EVENT.test(eventType),
  );
  const found =
    named === undefined
      ? (commands.find((event) => activity !== undefined && activityOf(event) === activity) ??
        commands[0])
      : events.find(({ eventId }) => eventId === named);
  if (found === undefined) return null;
  return { id: Number(found.eventId), type: found.eventType.replace('EVENT_TYPE_', '') };
}

function activityOf(event: HistoryEvent): unknown {
  const scheduled = event['activityTaskScheduledEventAttributes'] as
    { readonly activityType?: { readonly name?: unknown } } | undefined;
  return scheduled?.activityType?.name;
}
