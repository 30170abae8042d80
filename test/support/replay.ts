/** Replays histories with today's workflow code: of runs that just ended, and recorded ones. */
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { defined } from '../../src/core/base/defined.ts';
import { loadWorkflowBundle, type LoadedBundle } from '../../src/worker/bundle/bundle.ts';
import { workerConverter } from '../../src/protection/worker-converter.ts';
import { NO_PROTECTION, type Protection } from '../../src/protection/protection.ts';
import { createTranscriptCache } from '../../src/worker/serve/transcript-cache.ts';
import { createSinks, type EventListener } from '../../src/worker/serve/worker-sinks.ts';
import { installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { bundleFolder } from './bundles.ts';

/** How a chain is replayed. */
export interface ReplayOptions {
  /** Absolute path of the file that exports the workflows; default: Everloop's own. */
  readonly workflowsPath?: string;
  /** What encrypts payloads, and where large ones lie; default: nothing, and nowhere else. */
  readonly protection?: Protection;
  /** Get what the worker publishes; default: none. */
  readonly listeners?: readonly EventListener[];
}

/** What the service gives for `fetchHistory`. */
export type History = Awaited<
  ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>
>;

/** Replays one history; rejects with a DeterminismViolationError when the code does not fit it. */
export async function replayHistory(
  history: unknown,
  workflowId: string,
  options: ReplayOptions = {},
): Promise<void> {
  await replayAll([{ history, workflowId }], options);
}

/** Replays all of `histories` by one worker: each costs a fifth of a second. */
export async function replayAll(
  histories: readonly { readonly history: unknown; readonly workflowId: string }[],
  { workflowsPath, protection = NO_PROTECTION, listeners = [] }: ReplayOptions,
): Promise<void> {
  installRuntime({ logLevel: 'ERROR' });
  const workflowBundle = await bundleOf(workflowsPath);
  const sinks = createSinks({
    cache: createTranscriptCache({ maxBytes: 0 }),
    listeners,
    onListenerError: () => undefined,
  });
  const results = Worker.runReplayHistories(
    { workflowBundle, sinks, dataConverter: workerConverter(protection) },
    histories,
  );
  for await (const { error } of results) if (error !== undefined) throw error;
}

const bundles = new Map<string | undefined, Promise<LoadedBundle>>();

/** Read once in this process: a test replays dozens of links. */
function bundleOf(workflowsPath: string | undefined): Promise<LoadedBundle> {
  const known = bundles.get(workflowsPath);
  if (known !== undefined) return known;
  const bundle = bundleFolder(workflowsPath).then((cacheDir) =>
    loadWorkflowBundle(defined({ cacheDir, workflowsPath })),
  );
  bundles.set(workflowsPath, bundle);
  return bundle;
}

/** The histories of all links of a run, first link first. */
export async function historiesOf(client: Client, id: string): Promise<readonly History[]> {
  const histories: History[] = [];
  let runId: string | undefined = undefined;
  do {
    const history: History = await client.workflow.getHandle(id, runId).fetchHistory();
    histories.unshift(history);
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    runId = started?.continuedExecutionRunId ?? '';
  } while (runId !== '');
  return histories;
}

/** Replays every link of a run; rejects at the first that does not fit. */
export async function replayChain(
  client: Client,
  id: string,
  options: ReplayOptions = {},
): Promise<void> {
  const histories = await historiesOf(client, id);
  await replayAll(
    histories.map((history) => ({ history, workflowId: id })),
    options,
  );
}
