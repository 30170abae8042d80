/**
 * Runs before each file of tests: the servers of its process refuse what real providers refuse, and its
 * requests are kept, from the first file on.
 */
import { recordRequests, REQUESTS_FOLDER } from './hidden-values.ts';
import { refuseLive } from './refusing/refuse-live.ts';

/** Set once this process is recorded: unit tests share one, and a second recorder would keep each request twice. */
const RECORDED = Symbol.for('everloop.tests.recorded');

const folder = process.env[REQUESTS_FOLDER];
const isRecorded = Reflect.get(globalThis, RECORDED) === true;
if (folder !== undefined && !isRecorded) {
  Reflect.set(globalThis, RECORDED, true);
  refuseLive(folder);
  recordRequests(folder);
}
