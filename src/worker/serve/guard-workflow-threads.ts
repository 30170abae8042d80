/**
 * Keeps the process alive when the SDK cuts off a workflow task that has run for five seconds.
 *
 * The cut throws out of `Script.runInContext` past frames that had pushed on Node's stack of async
 * ids. Before Node 24 these entries stay there, and the next callback of the thread ends the whole
 * process with "async hook stack has become corrupted". The guard remembers the stack before each
 * such call and puts it back after a cut: the task fails, and every other run goes on.
 *
 * The guard also reports which work of which run was cut off: the sandbox cannot notice a cut.
 *
 * I1  The guard runs in the SDK's workflow threads only, before any code of the SDK.
 * I2  It changes nothing unless a script is cut off.
 */
import workerThreads, { type TransferListItem, type WorkerOptions } from 'node:worker_threads';
import { basename } from 'node:path';

/** The file that the SDK starts each of its workflow threads with. */
const SDK_THREAD = 'workflow-worker-thread.js';

/** The first major version of Node that keeps its own stack of async ids sound. */
const FIRST_SOUND_MAJOR = 24;

const KEEPS_STACK = Number(process.versions.node.split('.')[0]) >= FIRST_SOUND_MAJOR;

/** How the guard remembers the stack of async ids, and puts it back. */
const STACK = {
  open: `
const { noDeprecation } = process;
process.noDeprecation = true;
const wrap = process.binding('async_wrap');
process.noDeprecation = noDeprecation;
const { kStackLength, kExecutionAsyncId, kTriggerAsyncId } = wrap.constants;
const { async_hook_fields: fields, async_id_fields: ids } = wrap;
const remember = () => [fields[kStackLength], ids[kExecutionAsyncId], ids[kTriggerAsyncId]];
const putBack = ([depth, execution, trigger]) => {
  fields[kStackLength] = depth;
  ids[kExecutionAsyncId] = execution;
  ids[kTriggerAsyncId] = trigger;
};`,
  none: `
const remember = () => undefined;
const putBack = () => undefined;`,
};

/**
 * The code that a thread runs before the SDK's file. It is text because a thread cannot always
 * start from a TypeScript file. It becomes a `data:` URL because Node ignores `--import` in a
 * thread that starts with `eval`. A global of the sandbox names the work of a run; see
 * `workflows/overrun.ts`.
 */
const GUARD = `
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
${KEEPS_STACK ? STACK.none : STACK.open}
const { runInContext } = Script.prototype;
Script.prototype.runInContext = function (...args) {
  const stack = remember();
  try {
    return runInContext.apply(this, args);
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      putBack(stack);
      const work = args[0]?.__EVERLOOP_WORK__;
      if (typeof work === 'string') error.message += ' [' + work + ']';
    }
    throw error;
  }
};
`;

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
      };
    };
  };
}

const CUT_OFF = /^Script execution timed out.* \[(\w+ \d+)\]$/;

const { Worker } = workerThreads;

function threadUrl(file: string): URL {
  const path = JSON.stringify(file);
  const code = `${GUARD}createRequire(${path})(${path});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** A worker thread with the guard if the SDK starts it for workflows; any other is unchanged. */
class GuardedWorker extends Worker {
  readonly #isGuarded: boolean;
  readonly #runs = new Map<string, Omit<CutOff, 'work'>>();
  readonly #activations = new Map<bigint, string>();

  constructor(file: string | URL, options?: WorkerOptions) {
    const isGuarded = typeof file === 'string' && basename(file) === SDK_THREAD;
    super(isGuarded ? threadUrl(file) : file, options);
    this.#isGuarded = isGuarded;
    if (isGuarded) this.on('message', (answer: ThreadAnswer) => this.#read(answer));
  }

  override postMessage(message: unknown, transfer?: readonly TransferListItem[]): void {
    if (this.#isGuarded) this.#note(message as ThreadRequest);
    super.postMessage(message, transfer);
  }

  /** Remembers which run a request of the SDK is about. */
  #note({ requestId, input }: ThreadRequest): void {
    const { type, runId = '', options } = input;
    if (type === 'create-workflow' && options !== undefined) {
      const { namespace, taskQueue, workflowId, runId: id } = options.info;
      this.#runs.set(id, { namespace, taskQueue, workflowId, runId: id });
    }
    if (type === 'dispose-workflow') this.#runs.delete(runId);
    if (type === 'activate-workflow') this.#activations.set(requestId, runId);
  }

  #read({ requestId, result }: ThreadAnswer): void {
    if (requestId === undefined) return;
    const run = this.#runs.get(this.#activations.get(requestId) ?? '');
    this.#activations.delete(requestId);
    const failure = result?.output?.completion?.failed?.failure;
    const work = CUT_OFF.exec(failure?.message ?? '')?.[1];
    if (run === undefined || work === undefined) return;
    for (const listener of listeners) listener({ ...run, work });
  }
}

/** Guards all workflow threads that this process starts later. Calling it again changes nothing. */
export function guardWorkflowThreads(): void {
  workerThreads.Worker = GuardedWorker;
}
