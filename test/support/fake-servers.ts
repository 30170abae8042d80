/** Servers of the Model Context Protocol that answer from a function, without a protocol. */
import { defined } from '../../src/core/base/defined.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { CallResume } from '../../src/core/contract/call-input.ts';

import type { McpBinding, ToolEffect, ToolSpec } from '../../src/core/contract/spec.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import type { McpTools } from '../../src/define/mcp/mcp-tools.ts';

/** A tool of a fake server. */
export interface FakeTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly effect?: ToolEffect;
  readonly hash?: string;
  readonly approval?: 'always';
  readonly approvalTimeoutMs?: number;
  /** The server's answer; it gets the answers of people after it has asked. */
  readonly call?: (
    args: JsonObject,
    resume: CallResume | undefined,
    context: ToolContext,
  ) => unknown;
}

/** What a fake server was asked to do. */
export interface FakeCall {
  readonly tool: string;
  readonly args: Json;
  readonly key: string;
  readonly resume?: CallResume;
}

/** Fake servers whose tools a test may change in mid-run. */
export interface FakeServers {
  readonly tools: McpTools;
  readonly calls: FakeCall[];
  /** What each server has now, by its name; a server that is absent cannot be reached. */
  readonly now: Map<string, readonly FakeTool[]>;
}

/** The definition of a server that nobody connects to. */
export function fakeServer(
  name: string,
  fields: Partial<McpServerDefinition> = {},
): McpServerDefinition {
  return { ...mcpServer({ name, url: 'http://localhost:1/mcp' }), ...fields };
}

/** Connects nowhere: `servers` says what each server has. */
export function fakeServers(servers: {
  readonly [name: string]: readonly FakeTool[];
}): FakeServers {
  const now = new Map(Object.entries(servers));
  const calls: FakeCall[] = [];
  const tools: McpTools = {
    list: async (definitions) => {
      const missing = definitions.find(({ name, optional }) => !now.has(name) && !optional);
      if (missing !== undefined) {
        const what = `MCP server ${missing.name}`;
        return { kind: 'not_here', what, message: `${what} could not be reached.` };
      }
      const specs = definitions.flatMap(({ name, prefix }) =>
        (now.get(name) ?? []).map((tool) => specOf(name, prefix, tool)),
      );
      const warnings = definitions
        .filter(({ name }) => !now.has(name))
        .map(({ name }) => ({ code: 'mcp_unavailable', message: `the server ${name} is away` }));
      const sorted = specs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return { kind: 'listed', tools: sorted.map((spec) => ({ spec })), warnings };
    },
    bind: async (binding, { name, resume, onProgress }) => {
      const server = now.get(binding.server);
      if (server === undefined) return { kind: 'not_here', what: `MCP server ${binding.server}` };
      const tool = server.find((one) => one.name === binding.tool);
      if (tool === undefined) {
        const message = `Error: the server ${binding.server} has no tool ${binding.tool} any more.`;
        return { kind: 'rejected', message };
      }
      const spec = { ...specOf(binding.server, '', tool), name };
      return {
        kind: 'tool',
        tool: {
          kind: 'tool',
          spec,
          standard: null,
          execute: (args, context) => {
            const { idempotencyKey: key } = context;
            onProgress?.({ progress: 1, total: 2 });
            calls.push({ tool: tool.name, args: args as Json, key, ...defined({ resume }) });
            return tool.call?.(args as JsonObject, resume, context) ?? 'done';
          },
        },
      };
    },
    close: () => Promise.resolve(),
  };
  return { tools, calls, now };
}

function specOf(server: string, prefix: string, tool: FakeTool): ToolSpec {
  const { name, description = `Does ${name}.`, parameters, hash = '0123456789abcdef' } = tool;
  const { effect = 'once', approval, approvalTimeoutMs } = tool;
  const mcp: McpBinding = { server, tool: name, hash };
  return {
    name: `${prefix}${name}`,
    description,
    parameters: parameters ?? { type: 'object', properties: { query: { type: 'string' } } },
    effect,
    local: false,
    timeoutMs: 60_000,
    retry: { attempts: effect === 'once' ? 1 : 3, initialMs: 1_000, factor: 2 },
    sequential: false,
    maxResultBytes: 65_536,
    ...defined({ approval, approvalTimeoutMs }),
    mcp,
  };
}
