/**
 * What a workflow thread of the SDK runs before the SDK's own file.
 *
 * The SDK cuts off a workflow task that computes for five seconds. It enters the sandbox three times
 * for each activation, and each time starts a watchdog: a thread of the system, which costs more
 * than the work of a usual activation. Here one watchdog covers the whole activation.
 *
 * A cut throws past frames that had pushed on Node's stack of async ids. Before Node 24 these
 * entries stay there, and the next callback of the thread ends the whole process with "async hook
 * stack has become corrupted". So the stack is remembered before each call with a watchdog and put
 * back after a cut: the task fails, and every other run goes on. The failure names the work that
 * was cut off, from a global of the sandbox; see `workflows/overrun.ts`.
 *
 * After each activation, the SDK asks the thread for the calls of sinks that it made. The completion
 * waits for this second way there and back. Here the calls come with the completion, under
 * {@link SINK_CALLS}, and `guard-workflow-threads.ts` answers the SDK's question from them.
 *
 * The SDK hooks into every promise of the thread, for stacks that nobody reads; see
 * `workflows/untracked-promises.ts`. In these threads it does not.
 *
 * I1  It changes nothing that a run can see, unless its activation is cut off.
 * I2  No code of the sandbox runs without a watchdog.
 * I3  With a release of the SDK whose insides differ, each entry has its own watchdog again, calls of
 *     sinks are asked for, and promises have their hook.
 */

import { dirname } from 'node:path';

/** The property of a completion that has the calls of sinks of its activation. */
export const SINK_CALLS = 'everloopSinkCalls';

/** The first major version of Node that keeps its own stack of async ids sound. */
const FIRST_SOUND_MAJOR = 24;

const KEEPS_STACK = Number(process.versions.node.split('.')[0]) >= FIRST_SOUND_MAJOR;

/** How the thread remembers the stack of async ids, and puts it back. */
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
 * It is text because a thread cannot always start from a TypeScript file. It becomes a `data:` URL
 * because Node ignores `--import` in a thread that starts with `eval`.
 */
const CODE = `
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
${KEEPS_STACK ? STACK.none : STACK.open}

let timeout;
let activating = null;

function watched(context, call) {
  const stack = remember();
  try {
    return call();
  } catch (error) {
    if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      putBack(stack);
      const work = context?.__EVERLOOP_WORK__;
      if (typeof work === 'string') error.message += ' [' + work + ']';
    }
    throw error;
  }
}

const { runInContext } = Script.prototype;
Script.prototype.runInContext = function (context, options) {
  if (activating !== null) return runInContext.call(this, context, UNTIMED);
  timeout = options?.timeout ?? timeout;
  return watched(context, () => runInContext.call(this, context, options));
};
const UNTIMED = { displayErrors: true };

const ACTIVATE = Symbol.for('everloop.activate');
globalThis[ACTIVATE] = () => activating();
const activateNow = new Script("globalThis[Symbol.for('everloop.activate')]()");

// Functions cannot be sent. Calls of one activation share their information on the workflow.
function sendable(calls) {
  const copies = new Map();
  for (const call of calls) {
    const { workflowInfo: info } = call;
    if (!copies.has(info)) {
      const { now, random, ...unsafe } = info?.unsafe ?? {};
      copies.set(info, { ...info, unsafe });
    }
    call.workflowInfo = copies.get(info);
  }
  return calls;
}

async function withSinkCalls(workflow, completing) {
  const completion = await completing;
  try {
    completion.${SINK_CALLS} = sendable(await workflow.getAndResetSinkCalls());
  } catch {
    // The SDK asks for them, and meets the same error where it expects it.
  }
  return completion;
}

function guardActivations({ BaseVMWorkflow } = {}) {
  const { activate, getAndResetSinkCalls } = BaseVMWorkflow?.prototype ?? {};
  if (typeof activate !== 'function') return;
  BaseVMWorkflow.prototype.activate = function (activation) {
    const completing = guarded.call(this, activation);
    return typeof getAndResetSinkCalls === 'function' ? withSinkCalls(this, completing) : completing;
  };
  function guarded(activation) {
    if (timeout === undefined || activating !== null) return activate.call(this, activation);
    let completion;
    activating = () => {
      completion = activate.call(this, activation);
    };
    try {
      watched(this.context, () => activateNow.runInThisContext({ timeout }));
      return completion;
    } catch (error) {
      const { activator } = this;
      return { runId: activator.info.runId, failed: { failure: activator.errorToFailure(error) } };
    } finally {
      activating = null;
    }
  }
}

function leavePromises({ GlobalHandlers } = {}) {
  if (typeof GlobalHandlers?.prototype?.setPromiseHook !== 'function') return;
  GlobalHandlers.prototype.setPromiseHook = () => undefined;
}

function start(file, folder) {
  const require = createRequire(file);
  let inside;
  try {
    inside = require(join(folder, 'vm-shared.js'));
  } catch {
    // Another release of the SDK: its own watchdogs stay.
  }
  guardActivations(inside);
  leavePromises(inside);
  require(file);
}
`;

/** What a thread starts from: this code, and then `file` of the SDK. */
export function guardedThread(file: string): URL {
  // Stacks in the log name it so, and not by its text.
  const code = `${CODE}start(${JSON.stringify(file)}, ${JSON.stringify(dirname(file))});
//# sourceURL=everloop-workflow-thread.mjs`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
