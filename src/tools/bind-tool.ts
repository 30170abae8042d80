/** The tool of a call: one of the agent's definition, or one of a server. */
import { defined } from '../core/base/defined.ts';
import type { JsonObject } from '../core/base/json.ts';
import { hideIn, HIDE_NOTHING } from '../core/text/hide.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import { askingSpec } from '../core/calls/asking-spec.ts';
import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import { SEARCH_TOOL } from '../core/tool-search/query.ts';
import type {
  AgentDefinition,
  RegisteredAgent,
  ToolDefinition,
} from '../define/definition/definitions.ts';
import { TOOL_DEFAULTS } from '../define/tool/tool-options.ts';
import type { McpServerDefinition } from '../define/definition/mcp-server.ts';
import type { McpProgress, McpTools } from '../define/mcp/mcp-tools.ts';
import { findingStubs, searchToolOver } from './search-tool.ts';
import { ended, type ToolRun, type ToolRunOptions } from './tool-call.ts';

/** The tool, or the end of a call that has none. */
export type BoundTool = { readonly kind: 'bound'; readonly tool: ToolDefinition } | ToolRun;

/** Where a call finds its tool. */
export interface ToolSource {
  readonly agent: RegisteredAgent;
  /** The servers of this worker. Absent: it has none. */
  readonly mcp: McpTools | undefined;
  /** Whether the run takes the tool of a server for `once`: its effect is that of the start. */
  readonly isOnce: boolean;
}

/** Finds the tool of a call. Connects to its server if need be. Never rejects. */
export async function boundTool(
  { agent, mcp, isOnce }: ToolSource,
  order: ToolOrder,
  options: Pick<
    ToolRunOptions,
    'attempt' | 'signal' | 'onEvent' | 'onProgress' | 'hide' | 'traceparent'
  >,
): Promise<BoundTool> {
  const { tool: name, args, mcp: binding, resume, runId, findsStubs } = order;
  const { servers } = agent.definition;
  if (name === SEARCH_TOOL && servers !== undefined)
    return searchOver(agent.definition, { servers, isFinding: findsStubs === true }, mcp);
  if (binding === undefined) {
    const tool = agent.tools.get(name);
    // A run keeps its specification during an upgrade, while this worker may lack the tool.
    if (tool === undefined) return { kind: 'not_here', what: `tool ${name}` };
    return { kind: 'bound', tool: order.asks === true ? askingTool(tool) : tool };
  }
  if (mcp === undefined) return { kind: 'not_here', what: `MCP server ${binding.server}` };
  const { signal, onEvent, hide = HIDE_NOTHING } = options;
  // Progress is for those who stream the run: it is in no history.
  const onProgress = (reported: McpProgress): void => {
    const progress = hideIn<JsonObject>({ ...reported }, hide) as unknown as McpProgress;
    onEvent?.('mcp:progress', { ...progress });
    options.onProgress?.(progress);
  };
  const { traceparent = order.traceparent } = options;
  const asksUser = agent.tools.has(ASK_TOOL);
  const call = {
    name,
    runId,
    args,
    signal,
    asksUser,
    onProgress,
    ...defined({ resume, traceparent }),
  };
  const bound = await mcp.bind(binding, call);
  switch (bound.kind) {
    case 'tool':
      return { kind: 'bound', tool: withEffect(bound.tool, name, isOnce) };
    case 'rejected': {
      const run = { ...options, run: '' };
      return ended(run, false, 'rejected', bound.message);
    }
    case 'not_here':
      return bound;
  }
}

interface SearchedServers {
  readonly servers: readonly McpServerDefinition[];
  /** Whether the run has stubs. */
  readonly isFinding: boolean;
}

/** The search tool of an agent with servers: their tools are what they list now. */
async function searchOver(
  definition: AgentDefinition,
  { servers, isFinding }: SearchedServers,
  mcp: McpTools | undefined,
): Promise<BoundTool> {
  const listing = await mcp?.list(servers);
  if (listing?.kind !== 'listed') {
    return { kind: 'not_here', what: listing?.what ?? `MCP server ${servers[0]?.name ?? ''}` };
  }
  const tool = searchToolOver(definition, listing.tools);
  if (tool === undefined) return { kind: 'not_here', what: SEARCH_TOOL };
  return { kind: 'bound', tool: isFinding ? findingStubs(tool, listing.tools) : tool };
}

/** The function of a tool that says what it has to ask, as a tool of its own. */
function askingTool({ isolate: _isolate, ...tool }: ToolDefinition): ToolDefinition {
  const execute: ToolDefinition['execute'] = (args, context) => tool.asks?.(args, context);
  return { ...tool, spec: askingSpec(tool.spec), execute };
}

/** The tool under the name and with the effect that the run began with. */
function withEffect(tool: ToolDefinition, name: string, isOnce: boolean): ToolDefinition {
  const { spec } = tool;
  if (isOnce) {
    return {
      ...tool,
      spec: { ...spec, name, effect: 'once', retry: { ...spec.retry, attempts: 1 } },
    };
  }
  if (spec.effect !== 'once') return { ...tool, spec: { ...spec, name } };
  const { attempts } = TOOL_DEFAULTS.retry;
  const retry = { ...spec.retry, attempts };
  return { ...tool, spec: { ...spec, name, effect: 'idempotent', retry } };
}
