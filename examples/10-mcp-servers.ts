/**
 * Servers of the Model Context Protocol as tools: the reference servers for files and for memory, as
 * processes beside the worker. Needs no network.
 *
 *     npx tsx examples/10-mcp-servers.ts
 */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineAgent, mcpServer, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

const folder = await realpath(await mkdtemp(join(tmpdir(), 'everloop-mcp-')));
await writeFile(join(folder, 'order.txt'), 'Ada orders 3 lamps.\n');

/** The program of a reference server. With a network, `npx -y PACKAGE@VERSION` does as well. */
function program(name: string): readonly string[] {
  return [fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`))];
}

// region servers
const files = mcpServer({
  name: 'files',
  command: process.execPath,
  args: [...program('server-filesystem'), folder],
  tools: { allow: ['read_text_file', 'list_directory'] },
});
const memory = mcpServer({
  name: 'memory',
  command: process.execPath,
  args: [...program('server-memory')],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  tools: { allow: ['create_entities', 'search_nodes'] },
});
const clerk = defineAgent({
  name: 'clerk',
  mode: 'react',
  thinking: false,
  tools: [files, memory],
  model: exampleModel([
    {
      content: `<action>
- tool: files_read_text_file
  args:
    path: ${join(folder, 'order.txt')}
</action>`,
    },
    {
      content: `<action>
- tool: memory_create_entities
  args:
    entities:
      - name: Ada
        entityType: customer
        observations: [ordered 3 lamps]
</action>`,
    },
    {
      content: `<action>
- tool: memory_search_nodes
  args:
    query: lamps
</action>`,
    },
    { content: '<answer>Noted: Ada ordered 3 lamps.</answer>' },
  ]),
});
// endregion

const everloop = await local({ agents: [clerk] });
try {
  const run = await everloop.start('clerk', { task: 'Note who ordered what.' });
  const step = await run.result();
  console.log(unwrap(step));
  console.log(`${step.usage.toolCalls} calls`);
  for (const event of await run.events()) {
    if (event.type === 'agent:tool_call:after') console.log(`${event.tool}: ${event.outcome}`);
  }
} finally {
  await everloop.close();
  await rm(folder, { recursive: true, force: true });
}
