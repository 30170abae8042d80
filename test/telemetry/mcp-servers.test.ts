/** What telemetry shows of servers, and what servers get to know of a call. */
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { serverAttributes, watchServers } from '../../src/telemetry/mcp-servers.ts';
import type { Recording } from '../../src/telemetry/metrics.ts';
import { watchCalls } from '../../src/telemetry/watch-calls.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { listServers } from '../../src/testing/listed-servers.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { ToolRun, ToolRunOptions } from '../../src/tools/tool-call.ts';
import type { Tracer } from '../../src/telemetry/tracer.ts';
import { eventually } from '../support/eventually.ts';
import { callListed, wildServer } from '../support/mcp-servers.ts';
import { checkSpans, traceInMemory } from '../support/spans.ts';

const opened: WorkerMcpTools[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
});

function open(server: McpServerDefinition, options: object = {}): WorkerMcpTools {
  const tools = createMcpTools({ servers: [server], ...options });
  opened.push(tools);
  return tools;
}

/** Runs a tool of the server as an activity does. */
async function run(
  server: McpServerDefinition,
  tool: string,
  options: Partial<ToolRunOptions> = {},
): Promise<ToolRun> {
  const mcp = open(server);
  const listing = await mcp.list([server]);
  const found = listing.kind === 'listed' ? listing.tools : [];
  const binding = found.find(({ spec }) => spec.name === tool)?.spec.mcp;
  if (binding === undefined) throw new Error(`Expected tool ${tool}, got none.`);
  const agent = defineAgent({ name: 'clerk', model: 'm', tools: [server], askUser: true });
  const models = [{ id: 'm', model: () => Promise.resolve('') }];
  const registered = createRegistry({ agents: [agent], models }).agents.get('clerk');
  if (registered === undefined) throw new Error('Expected the agent in its registry.');
  const call = { agent: 'clerk', runId: 'run-1', agentPath: 'clerk', callId: '1.1', args: {} };
  const order = { ...call, tool, mcp: binding };
  const { signal } = new AbortController();
  return runTool(registered, order, { attempt: 1, signal, run: 'r', mcp, ...options });
}

describe('a server gets with a call', () => {
  it('its key, the span of the call and a token for progress', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const tracer = { within: (_span: unknown, work: () => unknown) => work() } as Tracer;
    const watch = watchCalls({
      tracer,
      meter: undefined,
      sample: 1,
      content: 'off',
      cacheBytes: () => 0,
      now: () => 0,
    });
    const order = { agent: 'clerk', runId: 'run-1', agentPath: 'clerk', callId: '1.1' };
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const of = { ...order, tool: 'wild_meta', args: {}, traceparent };
    const ended = await watch.tool(of, (own) =>
      run(wildServer(), 'wild_meta', own === undefined ? {} : { traceparent: own }),
    );
    if (ended.kind !== 'result') throw new Error('Expected a result.');

    expect(JSON.parse(ended.result.output as string)).toEqual({
      progressToken: expect.any(Number) as number,
      'io.everloop/idempotency-key': 'run-1/1.1',
      traceparent: expect.stringMatching(
        new RegExp(`^00-${traceId}-(?!b7ad)[\\da-f]{16}-01$`),
      ) as string,
    });
  });

  it('an answer to what it asks, and the model reads that it can ask itself', async () => {
    const ended = await run(wildServer(), 'wild_leak');

    expect(ended).toMatchObject({
      result: { instructions: 'The server asked: Is  right? Ask with ask_user and call again.' },
    });
  });
});

describe('the metrics of servers', () => {
  it('count calls by their outcome, and connections', async () => {
    const kept: Recording[] = [];
    const { watch, factsOf } = watchServers({ record: (one) => void kept.push(one) }, () => 'pipe');
    const server = wildServer();
    const tools = open(server, { observer: watch });
    const call = (name: string, more = {}) => callListed(tools, [server], name, {}, more);
    await call('wild_echo');
    await call('wild_leak', {});
    await call('wild_hang', { signal: AbortSignal.timeout(50) });
    await call('wild_act_and_die');
    await eventually('the end of the connection', () =>
      kept.some(({ metric, value }) => metric === 'everloop_mcp_connections' && value === 0),
    );
    const of = (metric: string) => kept.filter((one) => one.metric === metric);

    expect(of('everloop_mcp_calls_total').map(({ labels }) => labels)).toEqual(
      ['ok', 'ok', 'stopped', 'lost'].map((outcome) => ({ server: 'wild', outcome })),
    );
    expect(of('everloop_mcp_connections').slice(0, 2)).toMatchObject([
      { value: 1, labels: { server: 'wild' } },
      { value: 0 },
    ]);
    expect(factsOf('wild')).toEqual({ transport: 'pipe', version: '2025-11-25' });
  });
});

describe('the span of a call', () => {
  it('says method, server, revision and transport, and has no span below it', async () => {
    const server = wildServer();
    const agent = defineAgent({
      name: 'clerk',
      mode: 'chat',
      model: {
        id: 'm',
        model: scriptedModel([
          { toolCalls: [{ name: 'wild_echo', args: { text: 'x' } }] },
          { content: 'done' },
        ]).model,
      },
      tools: [server],
    });
    const mcp = await listServers([agent]);
    const traced = await traceInMemory(
      { agent, mcp },
      { serverOf: () => ({ transport: 'pipe', version: '2025-11-25' }) },
    );
    await mcp.tools.close();
    checkSpans(traced);
    const span = traced.spans.find(({ name }) => name === 'execute_tool wild_echo');

    expect(span?.attributes).toMatchObject({
      'gen_ai.tool.type': 'extension',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'pipe',
      'everloop.mcp.server': 'wild',
    });
    expect(traced.spans.filter(({ parentId }) => parentId === span?.spanId)).toEqual([]);
  });

  it('of a tool that reads a resource names that method', () => {
    const attributes = serverAttributes({ server: 'x', tool: 'everloop:resources/read' });

    expect(attributes).toMatchObject({ 'mcp.method.name': 'resources/read' });
  });
});
