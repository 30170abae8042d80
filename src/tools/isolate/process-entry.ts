/**
 * The program of a child process: runs the one call that its worker sends on file descriptor 3.
 *
 * I1  It does not outlive its worker, also when the code blocks: a thread watches the parent.
 */
import { Socket } from 'node:net';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { frameOf, onFrames } from './frames.ts';
import type { IsolatedOrder } from './messages.ts';
import { runOrder, watchUncaught } from './run-order.ts';

/** Kills the process, and what it started, once the parent is another. */
const WATCH = `
const { workerData } = require('node:worker_threads');
setInterval(() => {
  if (process.ppid === workerData) return;
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); }
}, 500);`;

const parent = Number(process.argv[2]);
new Worker(WATCH, { eval: true, workerData: parent, execArgv: [], env: {} }).unref();
watchUncaught();

const socket = new Socket({ fd: 3, readable: true, writable: true });
const stops: ((name: string, message: string) => void)[] = [];
let order: IsolatedOrder | undefined;

onFrames(socket, Infinity, (bytes) => {
  const message: unknown = deserialize(bytes);
  if (order !== undefined) {
    const { name, message: text } = message as { readonly name: string; readonly message: string };
    for (const stop of stops) stop(name, text);
    return;
  }
  order = message as IsolatedOrder;
  void runOrder(order, {
    send: (text) => void socket.write(frameOf(Buffer.from(text))),
    onStop: (listener) => void stops.push(listener),
    load: (url) => import(url),
  }).then(() => socket.end(() => process.exit()));
});
// The worker is gone.
socket.on('error', () => process.exit());
socket.on('end', () => process.exit());
