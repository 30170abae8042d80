/** The workflows that a worker's bundle serves, named one by one: no other workflow can run. */
export { agent } from './agent.ts';
export { deliverCallbacks } from './deliver-callbacks.ts';
