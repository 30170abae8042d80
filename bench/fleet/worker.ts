/**
 * A worker process as `runWorker` ships it, with the embedded server as shipped; its argument is a
 * {@link WorkerOrder} as JSON. The sources are those of the checkout that the order names.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  FLEET_AGENT,
  FLEET_TOOL,
  PACE,
  TOOL_RESULT,
  type WorkerOrder,
  type WorkerReadyNote,
} from './orders.ts';
import { tellUsed } from './tell-used.ts';

const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const { root, dataDir, cliDir, providerUrl, isUnread } = order;
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href);
const { defineAgent, defineTool } = (await load(
  'src/index.ts',
)) as typeof import('../../src/index.ts');
const { runWorker } = (await load('src/worker.ts')) as typeof import('../../src/worker.ts');

const provider = createOpenAICompatible({
  name: 'fleet',
  baseURL: providerUrl,
  includeUsage: true,
});
const read = defineTool({
  name: FLEET_TOOL,
  description: 'Reads a part.',
  parameters: { type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] },
  effect: 'read',
  execute: () => sleep(PACE.toolMs, TOOL_RESULT),
});

/** The agent; a checkout whose agents always stream has no option `stream`. */
function agentOf(): ReturnType<typeof defineAgent> {
  const options = {
    name: FLEET_AGENT,
    mode: 'chat',
    model: { id: 'fleet', model: provider('fleet') },
    tools: [read],
  } as const;
  if (!isUnread) return defineAgent(options);
  try {
    return defineAgent({ ...options, stream: 'auto' } as typeof options);
  } catch {
    return defineAgent(options);
  }
}

tellUsed();
await runWorker({
  agents: [agentOf()],
  dataDir,
  env: {},
  logLevel: 'ERROR',
  server: { port: 'free', cliDir },
  onReady: ({ server }) => {
    const note: WorkerReadyNote = { address: server.address, serverPid: server.pid ?? 0 };
    process.send?.(note);
  },
});
