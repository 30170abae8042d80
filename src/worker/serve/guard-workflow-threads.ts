/**
 * Keeps the process alive when the SDK cuts off a workflow task that has run for five seconds.
 *
 * The cut throws out of `Script.runInContext` past frames that had pushed on Node's stack of async
 * ids. Before Node 24 these entries stay there, and the next callback of the thread ends the whole
 * process with "async hook stack has become corrupted". The guard remembers the stack before each
 * such call and puts it back after a cut: the task fails, and every other run goes on.
 *
 * G1  The guard runs in the SDK's workflow threads only, before any code of the SDK.
 * G2  It changes nothing unless a script is cut off.
 */
import workerThreads, { type WorkerOptions } from 'node:worker_threads';
import { basename } from 'node:path';

/** The file that the SDK starts each of its workflow threads with. */
const SDK_THREAD = 'workflow-worker-thread.js';

/** The first major version of Node that keeps its own stack of async ids sound. */
const FIRST_SOUND_MAJOR = 24;

/**
 * What a thread runs before the SDK's file. It is a text because a thread cannot start from a
 * TypeScript file in every way that this package is run; a `data:` URL because Node does not run
 * what `--import` names in a thread that is started with `eval`.
 */
const GUARD = `
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
const { noDeprecation } = process;
process.noDeprecation = true;
const wrap = process.binding('async_wrap');
process.noDeprecation = noDeprecation;
const { kStackLength, kExecutionAsyncId, kTriggerAsyncId } = wrap.constants;
const { async_hook_fields: fields, async_id_fields: ids } = wrap;
const { runInContext } = Script.prototype;
Script.prototype.runInContext = function (...args) {
  const depth = fields[kStackLength];
  const execution = ids[kExecutionAsyncId];
  const trigger = ids[kTriggerAsyncId];
  try {
    return runInContext.apply(this, args);
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      fields[kStackLength] = depth;
      ids[kExecutionAsyncId] = execution;
      ids[kTriggerAsyncId] = trigger;
    }
    throw error;
  }
};
`;

const { Worker } = workerThreads;

function threadUrl(file: string): URL {
  const path = JSON.stringify(file);
  const code = `${GUARD}createRequire(${path})(${path});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** A worker thread with the guard if the SDK starts it for workflows; any other is unchanged. */
class GuardedWorker extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    if (typeof file === 'string' && basename(file) === SDK_THREAD) {
      super(threadUrl(file), options);
    } else {
      super(file, options);
    }
  }
}

/** Guards all workflow threads that this process starts later. Calling it again changes nothing. */
export function guardWorkflowThreads(): void {
  if (Number(process.versions.node.split('.')[0]) >= FIRST_SOUND_MAJOR) return;
  workerThreads.Worker = GuardedWorker;
}
