/** The workflows that a worker's bundle serves, named one by one: what is missing here cannot run. */
export { agent } from './agent.ts';
