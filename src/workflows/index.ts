/** The workflows that a worker's bundle serves, named one by one: no other workflow can run. */
export { agent } from './agent.ts';
export { agent as agentProbe } from './agent.ts';
export { deliverCallbacks } from './callbacks/deliver-callbacks.ts';
export { readMoment } from './forks/read-moment.ts';
export { tenant } from './tenants/tenant.ts';
export { rate } from './tenants/rate.ts';
