/**
 * Preloaded by a measured process (`--import`), and so by its workflow thread too. There it times the
 * first activation of each workflow and answers how large the heap is: Node 20 cannot read the heap
 * of another thread, and the workflows of a worker live in a thread of their own. Plain JavaScript,
 * as loaders for TypeScript do not reach into threads. Needs `--expose-gc`.
 *
 * Listens on the channel `everloop-bench-thread` for `ask` and answers `{ heapBytes,
 * firstActivationsMs }`: `used_heap_size` after a full collection, and for each workflow so far the
 * milliseconds of creating it and of its first activation.
 */
import { getHeapStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import reusableVm from '@temporalio/worker/lib/workflow/reusable-vm.js';

if (!isMainThread) watchThread();

function watchThread() {
  const firstActivationsMs = [];
  const { prototype } = reusableVm.ReusableVMWorkflowCreator;
  // oxlint-disable-next-line typescript/unbound-method -- called with its receiver below
  const create = prototype.createWorkflow;
  prototype.createWorkflow = async function timed(...args) {
    const startedAt = performance.now();
    const workflow = await create.apply(this, args);
    const createdMs = performance.now() - startedAt;
    const activate = workflow.activate.bind(workflow);
    workflow.activate = async (activation) => {
      delete workflow.activate;
      const activatedAt = performance.now();
      const completion = await activate(activation);
      firstActivationsMs.push(createdMs + performance.now() - activatedAt);
      return completion;
    };
    return workflow;
  };

  const channel = new BroadcastChannel('everloop-bench-thread');
  channel.onmessage = ({ data }) => {
    // Loaders run in threads too; only the one that made workflows is meant.
    if (data !== 'ask' || firstActivationsMs.length === 0) return;
    globalThis.gc();
    // The second one takes what finalizers of the first let go.
    globalThis.gc();
    const heapBytes = getHeapStatistics().used_heap_size;
    channel.postMessage({ heapBytes, firstActivationsMs });
  };
  channel.unref();
}
