/** The Model Context Protocol servers of a worker's agents. */
import type { Registry } from '../../define/definition/definitions.ts';
import type { McpTools } from '../../define/mcp/mcp-tools.ts';
import type { McpObserver } from '../../mcp/connection/mcp-observer.ts';
import { loadMcpTools } from '../../mcp/load-mcp-tools.ts';
import type { McpLog } from '../../mcp/text/log.ts';
import { workerLog } from './worker-log.ts';

/**
 * The servers of the registry; their catalogues are read in the background. Only agents with servers
 * load the client of the protocol, which takes 0.2 s of processor time.
 */
export async function openServers(
  { servers }: Registry,
  observer: McpObserver,
): Promise<McpTools | undefined> {
  if (servers === undefined) return undefined;
  const { createMcpTools } = await loadMcpTools();
  const levels = { info: 'INFO', warn: 'WARN' } as const;
  const log: McpLog = (level, text) => workerLog(levels[level], text);
  const mcp = createMcpTools({ servers: [...servers.values()], log, observer });
  mcp.warm();
  return mcp;
}
