/** A worker process: serves the agents below until SIGTERM. Put your own agents in their place. */
import { airlineAgent } from './examples/airline/agents.ts';
import { airlineStore } from './examples/airline/store.ts';
import { openai } from '@ai-sdk/openai';
import { runWorker } from './src/worker.ts';

const airline = airlineAgent({ model: openai('gpt-5-mini'), store: airlineStore() });

await runWorker({ agents: [airline], logEvents: true });
