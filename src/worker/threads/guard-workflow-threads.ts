/**
 * Guards the SDK's workflow threads: each starts with the code of `guarded-thread.ts`. What was cut
 * off is told here: the sandbox itself cannot notice a cut. Calls of sinks that came with a completion
 * are handed to the SDK here when it asks for them.
 *
 * I1  Threads of users, and other threads of the SDK, are unchanged.
 */
import workerThreads, { type TransferListItem, type WorkerOptions } from 'node:worker_threads';
import { basename } from 'node:path';
import { guardedThread, SINK_CALLS } from './guarded-thread.ts';

/** The file that the SDK starts each of its workflow threads with. */
const SDK_THREAD = 'workflow-worker-thread.js';

/** A run whose workflow task was cut off. */
export interface CutOff {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly workflowId: string;
  readonly runId: string;
  /** The work that was cut off, as the sandbox names it: `program 57`. */
  readonly work: string;
}

const listeners = new Set<(cutOff: CutOff) => void>();

/** Calls `listener` with each cut-off of this process, until the returned function is called. */
export function onCutOff(listener: (cutOff: CutOff) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** What the SDK sends to a workflow thread, as far as the guard reads it. */
interface ThreadRequest {
  readonly requestId: bigint;
  readonly input: {
    readonly type: string;
    readonly runId?: string;
    readonly options?: { readonly info: Omit<CutOff, 'work'> };
  };
}

/** What a workflow thread answers, as far as the guard reads it. */
interface ThreadAnswer {
  readonly requestId?: bigint;
  readonly result?: {
    readonly output?: {
      readonly completion?: {
        readonly failed?: { readonly failure?: { readonly message?: string } } | null;
        [SINK_CALLS]?: readonly unknown[];
      };
    };
  };
}

const CUT_OFF = /^Script execution timed out.* \[(\w+ \d+)\]$/;

const { Worker } = workerThreads;

/** A worker thread with the guard if the SDK starts it for workflows; any other is unchanged. */
class GuardedWorker extends Worker {
  readonly #isGuarded: boolean;
  readonly #runs = new Map<string, Omit<CutOff, 'work'>>();
  readonly #activations = new Map<bigint, string>();
  readonly #sinkCalls = new Map<string, readonly unknown[]>();

  constructor(file: string | URL, options?: WorkerOptions) {
    const isGuarded = typeof file === 'string' && basename(file) === SDK_THREAD;
    super(isGuarded ? guardedThread(file) : file, options);
    this.#isGuarded = isGuarded;
    if (isGuarded) this.on('message', (answer: ThreadAnswer) => this.#read(answer));
  }

  override postMessage(message: unknown, transfer?: readonly TransferListItem[]): void {
    if (this.#isGuarded) {
      this.#note(message as ThreadRequest);
      if (this.#answer(message as ThreadRequest)) return;
    }
    super.postMessage(message, transfer);
  }

  /** Answers the SDK's question for calls of sinks that have come; false: the thread has to. */
  #answer({ requestId, input: { type, runId = '' } }: ThreadRequest): boolean {
    const calls = type === 'extract-sink-calls' ? this.#sinkCalls.get(runId) : undefined;
    if (calls === undefined) return false;
    this.#sinkCalls.delete(runId);
    const result = { type: 'ok', output: { type: 'sink-calls', calls } };
    // The SDK begins to wait for the answer once it has asked.
    queueMicrotask(() => this.emit('message', { requestId, result }));
    return true;
  }

  /** Remembers which run a request of the SDK is about. */
  #note({ requestId, input }: ThreadRequest): void {
    const { type, runId = '', options } = input;
    if (type === 'create-workflow' && options !== undefined) {
      const { namespace, taskQueue, workflowId, runId: id } = options.info;
      this.#runs.set(id, { namespace, taskQueue, workflowId, runId: id });
    }
    if (type === 'dispose-workflow') {
      this.#runs.delete(runId);
      this.#sinkCalls.delete(runId);
    }
    if (type === 'activate-workflow') this.#activations.set(requestId, runId);
  }

  #read({ requestId, result }: ThreadAnswer): void {
    if (requestId === undefined) return;
    const runId = this.#activations.get(requestId) ?? '';
    this.#activations.delete(requestId);
    const run = this.#runs.get(runId);
    const completion = result?.output?.completion;
    if (completion?.[SINK_CALLS] !== undefined) {
      this.#sinkCalls.set(runId, completion[SINK_CALLS]);
      delete completion[SINK_CALLS];
    }
    const failure = completion?.failed?.failure;
    const work = CUT_OFF.exec(failure?.message ?? '')?.[1];
    if (run === undefined || work === undefined) return;
    for (const listener of listeners) listener({ ...run, work });
  }
}

/** Guards all workflow threads that this process starts later. Calling it again changes nothing. */
export function guardWorkflowThreads(): void {
  workerThreads.Worker = GuardedWorker;
}
