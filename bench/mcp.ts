/**
 * `mcp`: what a tool of a server of the Model Context Protocol costs beyond one of the worker itself.
 *
 * - `stdio_call_ms`, `http_call_ms`: finding the tool and calling it, minus the same call of a function
 *   in this process. The median of many calls, one after another, on a connection that is open. The
 *   HTTP server runs in this process, so its own time is part of the figure. The baseline is the same
 *   call by the SDK's client alone.
 * - `load_100_tools_ms`: loading an agent whose server has 100 tools, with the catalogue read before,
 *   minus loading it without the server.
 * - `history_bytes_per_call`: what a call writes into the history of its run beyond the same call of a
 *   tool of the worker: a run of 21 calls less one of a single call, a twentieth of it, on both sides.
 * - `question_history_bytes`: what a call whose server asks a person, and is answered, writes beyond a
 *   turn with a call of a tool of the worker and a question by `ask_user`.
 * - `question_total_bytes`: the same beyond the call alone; most of it is the wait of any question.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import type { McpServerDefinition } from '../src/define/definition/mcp-server.ts';
import { mcpServer } from '../src/define/mcp/mcp-server.ts';
import { callOnce } from '../src/mcp/call-once.ts';
import { createMcpTools, type WorkerMcpTools } from '../src/mcp/mcp-tools.ts';
import { loadAgent } from '../src/registry/load-agent.ts';
import { createRegistry } from '../src/registry/registry.ts';
import { INLINE_SIZES } from '../src/core/base/size-limits.ts';
import { startHttpServer, wildServer } from '../test/support/mcp-servers.ts';
import { withStage } from './support/bench-stage.ts';
import { figure, median, type Bench } from './support/figure.ts';
import { mcpHistory } from './support/mcp-history.ts';

const CALLS = 300;
const WARM_CALLS = 30;
const LOADS = 30;
const TOOLS = 100;

/** The benchmark `mcp`. */
export const mcpBench: Bench = {
  name: 'mcp',
  about: 'milliseconds of a call of a server’s tool, of loading 100 of them, and bytes of history',
  run: async () => {
    const http = await startHttpServer();
    const folder = mkdtempSync(join(tmpdir(), 'everloop-bench-'));
    const toolsFile = join(folder, 'tools.json');
    writeFileSync(toolsFile, JSON.stringify(Array.from({ length: TOOLS }, (_, at) => toolOf(at))));
    const stdioServer = wildServer();
    const httpServer = mcpServer({ name: 'asking', url: http.url });
    const manyServer = wildServer({ toolsFile }, { name: 'many' });
    const tools = createMcpTools({ servers: [stdioServer, httpServer, manyServer] });
    try {
      const stdio = await callMs(tools, 'wild', 'echo', { text: 'hello' });
      const overHttp = await callMs(tools, 'asking', 'add', { a: 1, b: 2 });
      const inProcess = await functionMs();
      const bare = await bareHttpMs(http.url);
      const loading = await loadMs(tools, manyServer);
      const history = await withStage((stage) => mcpHistory(stage, httpServer));
      return [
        figure('stdio_call_ms', stdio - inProcess, 'ms', '<= 3'),
        figure('http_call_ms', overHttp - inProcess, 'ms', '<= 6', bare),
        figure('load_100_tools_ms', loading, 'ms', '<= 10'),
        figure('history_bytes_per_call', history.perCall, 'B', '<= 200'),
        figure('question_history_bytes', history.perQuestion, 'B', '<= 2500'),
        figure('question_total_bytes', history.perAsking, 'B', ''),
      ];
    } finally {
      await tools.close();
      await http.close();
      rmSync(folder, { recursive: true });
    }
  },
};

function toolOf(at: number): object {
  return {
    name: `tool_${at}`,
    description: `Looks up record ${at} in the archive of the department.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id of the record.' },
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        format: { enum: ['text', 'json'] },
      },
      required: ['id'],
    },
    annotations: { readOnlyHint: true },
  };
}

async function callMs(
  tools: WorkerMcpTools,
  server: string,
  tool: string,
  args: { readonly [name: string]: string | number },
): Promise<number> {
  const { signal } = new AbortController();
  const times = await timesOf(async () => {
    const { error } = await callOnce(tools, { server, tool, args, signal });
    if (error !== undefined) throw new Error(error);
  });
  return median(times);
}

async function bareHttpMs(url: string): Promise<number> {
  const client = new McpClient(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    return median(await timesOf(() => client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })));
  } finally {
    await client.close();
  }
}

async function functionMs(): Promise<number> {
  return median(await timesOf(() => Promise.resolve('hello')));
}

async function timesOf(work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let call = 0; call < WARM_CALLS + CALLS; call++) {
    const startedAt = performance.now();
    await work();
    if (call >= WARM_CALLS) times.push(performance.now() - startedAt);
  }
  return times;
}

async function loadMs(tools: WorkerMcpTools, server: McpServerDefinition): Promise<number> {
  const plain = defineAgent({ name: 'plain', model: async () => 'done' });
  const clerk = defineAgent({
    name: 'clerk',
    model: async () => 'done',
    tools: [server],
    toolSearch: {},
  });
  const registry = createRegistry({ agents: [plain, clerk] });
  await tools.list([server]);
  const times = { plain: [] as number[], clerk: [] as number[] };
  for (let load = 0; load < LOADS; load++) {
    for (const { name, servers } of [plain, clerk]) {
      const startedAt = performance.now();
      const listing = servers === undefined ? undefined : await tools.list(servers);
      const input = { v: 1, agent: name, task: { text: 'Look.' } };
      const outcome = loadAgent(registry, input, INLINE_SIZES, listing);
      if (outcome.kind !== 'loaded') throw new Error(outcome.message);
      times[name as keyof typeof times].push(performance.now() - startedAt);
    }
  }
  return median(times.clerk) - median(times.plain);
}
