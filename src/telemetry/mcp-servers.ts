/** What telemetry shows of servers of the Model Context Protocol. */
import type { MetricsWriter } from './meter.ts';
import { ATTRIBUTES as A } from './genai.ts';
import type { AttributeValue } from './span-data.ts';

/** Takes what happens between a worker and its servers. */
export interface ServerWatch {
  called(server: string, outcome: string): void;
  /** `open`: the connections that the server has now. */
  connections(server: string, open: number): void;
  /** A connection was made; `version` is the revision of the protocol. */
  connected(server: string, version: string): void;
}

/** Watches nothing. */
export const NO_SERVER_WATCH: ServerWatch = {
  called: () => undefined,
  connections: () => undefined,
  connected: () => undefined,
};

/** How a worker reaches a server. */
export interface ServerFacts {
  /** `pipe` or `tcp`; absent: this worker does not know the server. */
  readonly transport?: 'pipe' | 'tcp' | undefined;
  /** The revision of the protocol; absent: this worker has not connected. */
  readonly version?: string | undefined;
}

/** The watch of a worker, and what it has seen. `transportOf`: by the name of a server. */
export function watchServers(
  meter: MetricsWriter | undefined,
  transportOf: (server: string) => ServerFacts['transport'],
): { readonly watch: ServerWatch; readonly factsOf: (server: string) => ServerFacts } {
  // As many as there are servers in the definitions.
  const versions = new Map<string, string>();
  const watch: ServerWatch = {
    called: (server, outcome) =>
      meter?.record({ metric: 'everloop_mcp_calls_total', value: 1, labels: { server, outcome } }),
    connections: (server, open) =>
      meter?.record({ metric: 'everloop_mcp_connections', value: open, labels: { server } }),
    connected: (server, version) => void versions.set(server, version),
  };
  const factsOf = (server: string): ServerFacts => ({
    transport: transportOf(server),
    version: versions.get(server),
  });
  return { watch, factsOf };
}

/** How the tools that Everloop adds for a server begin; the rest is the method that they ask. */
const OWN_TOOL = 'everloop:';

/** Attributes of the span of a call of the tool `tool` of `server`; none for other calls. */
export function serverAttributes(
  of: { readonly server: string; readonly tool: string } | undefined,
  factsOf?: (server: string) => ServerFacts,
): Readonly<Record<string, AttributeValue | undefined>> {
  if (of === undefined) return {};
  const { server, tool } = of;
  const { transport, version }: ServerFacts = factsOf?.(server) ?? {};
  const method = tool.startsWith(OWN_TOOL) ? tool.slice(OWN_TOOL.length) : 'tools/call';
  return {
    [A.toolType]: 'extension',
    [A.mcpServer]: server,
    [A.mcpMethod]: method,
    [A.mcpVersion]: version,
    [A.transport]: transport,
  };
}
