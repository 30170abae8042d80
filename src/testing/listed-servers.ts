/** The servers of agents that run in memory, asked once for their tools before a run begins. */
import type { AgentDefinition } from '../define/definition/definitions.ts';
import type { McpListing, McpTools } from '../define/mcp/mcp-tools.ts';
import { loadMcpTools } from '../mcp/load-mcp-tools.ts';
import { listedTools } from '../registry/listed-tools.ts';

/** The connections to servers, and what each agent has of them. */
export interface ListedServers {
  readonly tools: McpTools;
  /** By the name of the agent. */
  readonly listings: ReadonlyMap<string, McpListing>;
}

/**
 * Asks the servers of `agents` for their tools, as a worker does when a run starts. By default it
 * connects to the servers; `tools.close()` of the result ends these connections.
 *
 * @throws UsageError for variables that are not set, and two servers of one name.
 * @example
 * const mcp = await listServers([clerk]);
 * const step = await startInMemory({ agent: clerk, task: 'Go', mcp }).result;
 * await mcp.tools.close();
 */
export async function listServers(
  agents: readonly AgentDefinition[],
  tools?: McpTools,
): Promise<ListedServers> {
  const used = tools ?? (await connectServers(agents));
  const listings = new Map<string, McpListing>();
  for (const { name, servers } of agents) {
    const listing = await listedTools(servers, used);
    if (listing !== undefined) listings.set(name, listing);
  }
  return { tools: used, listings };
}

/** Connections to the servers. The client of the protocol is loaded here, not with this module. */
async function connectServers(agents: readonly AgentDefinition[]): Promise<McpTools> {
  const { createMcpTools } = await loadMcpTools();
  return createMcpTools({ servers: agents.flatMap(({ servers = [] }) => servers) });
}
