/** Runs in a thread of the pool. Piscina calls {@link runInThread} for each call. */
import type { MessagePort } from 'node:worker_threads';
import { runOrder, watchUncaught } from './run-order.ts';
import type { IsolatedOrder } from './messages.ts';

/** What a thread gets: the order, and the port to its worker. Null for a call that ended before. */
export type ThreadTask = {
  readonly order: IsolatedOrder;
  readonly port: MessagePort;
} | null;

let isTypeScriptLoaded = false;

/** A loader of the main thread does not reach into threads, so each registers its own. */
async function load(url: string): Promise<unknown> {
  if (/\.[cm]?tsx?$/.test(url) && !isTypeScriptLoaded) {
    isTypeScriptLoaded = true;
    (await import('tsx/esm/api')).register();
  }
  return import(url);
}

/** Runs one call; resolves when it has ended. */
export async function runInThread({ task }: { readonly task: ThreadTask }): Promise<void> {
  if (task === null) return;
  const { order, port } = task;
  await runOrder(order, {
    send: (text) => port.postMessage(text),
    onStop: (listener) => {
      port.on('message', ({ name, message }: { readonly name: string; readonly message: string }) =>
        listener(name, message),
      );
    },
    load,
  });
  port.close();
}

watchUncaught();
