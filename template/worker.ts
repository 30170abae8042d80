/** A worker process: it serves the agents until SIGTERM. Start as many as you like. */
import { runWorker } from 'everloop/worker';
import { clerk } from './agents.ts';

await runWorker({ agents: [clerk], logEvents: true });
