/** The servers of agents that run in memory, asked once for their tools before a run begins. */
import type { AgentDefinition } from '../define/definition/definitions.ts';
import type { McpListing, McpTools } from '../define/mcp/mcp-tools.ts';
import { listedTools } from '../registry/listed-tools.ts';

/** The connections to servers, and what each agent has of them. */
export interface ListedServers {
  readonly tools: McpTools;
  /** By the name of the agent. */
  readonly listings: ReadonlyMap<string, McpListing>;
}

/** Asks the servers of `agents` for their tools, as a worker does when a run starts. */
export async function listServers(
  tools: McpTools,
  agents: readonly AgentDefinition[],
): Promise<ListedServers> {
  const listings = new Map<string, McpListing>();
  for (const { name, servers } of agents) {
    const listing = await listedTools(servers, tools);
    if (listing !== undefined) listings.set(name, listing);
  }
  return { tools, listings };
}
