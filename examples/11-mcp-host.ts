/**
 * A host of the Model Context Protocol: it starts `everloop mcp serve` as a process, as a coding
 * assistant does, and drives a run over an approval to its answer. Needs no network.
 *
 *     npx tsx examples/11-mcp-host.ts
 */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { defineAgent, defineTool } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euros.',
  parameters: z.object({ amount: z.number() }),
  effect: 'once',
  approval: 'always',
  execute: ({ amount }) => `paid ${amount}`,
});
const clerk = defineAgent({
  name: 'clerk',
  mode: 'react',
  thinking: false,
  tools: [pay],
  model: exampleModel([
    { content: '<action>\ntool: pay\nargs:\n  amount: 50\n</action>' },
    { content: '<answer>The bill of 50 euros is paid.</answer>' },
  ]),
});

const everloop = await local({ agents: [clerk] });
const { address, namespace, taskQueue } = everloop;
const env = {
  ...(process.env as Record<string, string>),
  TEMPORAL_ADDRESS: address,
  TEMPORAL_NAMESPACE: namespace,
  EVERLOOP_TASK_QUEUE: taskQueue,
};
// With the package it is `command: 'npx', args: ['everloop', 'mcp', 'serve']`.
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const command = process.execPath;
const args = ['--import', import.meta.resolve('tsx'), main, 'mcp', 'serve'];

// region host
const host = new Client({ name: 'my-assistant', version: '1.0.0' });
await host.connect(new StdioClientTransport({ command, args, env }));
const call = async (name: string, input: object): Promise<RunResult> => {
  const { structuredContent } = await host.callTool({ name, arguments: { ...input } });
  return structuredContent as unknown as RunResult;
};

const { run } = await call('start_run', { agent: 'clerk', task: 'Pay the bill of 50 euros.' });
let state = await call('wait_run', { run });
for (const { id, kind, tool, args: wanted } of state.pending) {
  if (kind !== 'approval') continue;
  // An assistant asks its user here.
  console.log(`May ${tool} run with ${JSON.stringify(wanted)}? Yes.`);
  await call('decide', { run, id, approve: true });
}
while (state.status !== 'ended') state = await call('wait_run', { run });
console.log(state.step?.status, state.step?.value);
// endregion

/** What the tools about a run return; more fields are in the documentation. */
interface RunResult {
  readonly run: string;
  readonly status: string;
  readonly pending: readonly {
    readonly id: string;
    readonly kind: string;
    readonly tool?: string;
    readonly args?: object;
  }[];
  readonly step?: { readonly status: string; readonly value: unknown };
}

await host.close();
await everloop.close();
