/**
 * What a worker asks of its connections to Model Context Protocol servers. Activities and the memory
 * host know this interface alone; `src/mcp` has the implementation.
 */
import type { JsonObject } from '../../core/base/json.ts';
import type { CallResume } from '../../core/contract/call-input.ts';

import type { McpBinding, ToolSpec } from '../../core/contract/spec.ts';
import type { ToolDefinition } from '../definition/definitions.ts';
import type { ToolSearchFields } from '../definition/tool-search-options.ts';
import type { McpServerDefinition } from '../definition/mcp-server.ts';

/** The servers of a worker. */
export interface McpTools {
  /**
   * The tools of the servers of an agent as this worker knows them now. Waits at most
   * `connectTimeoutMs` for the first catalogue of a server. Never rejects.
   */
  list(servers: readonly McpServerDefinition[]): Promise<McpListing>;
  /** The tool of a call as its server has it now; connects if need be. Never rejects. */
  bind(binding: McpBinding, call: McpCall): Promise<McpBound>;
  /** Closes every connection and process. */
  close(): Promise<void>;
}

/** The tools of all servers of an agent, or the server that this worker cannot reach. */
export type McpListing =
  | {
      readonly kind: 'listed';
      /** Sorted by name, names unique among servers. */
      readonly tools: readonly McpTool[];
      readonly warnings: readonly { readonly code: string; readonly message: string }[];
      /** Of servers with `instructions: true`: at most 4,000 characters each, in their order. */
      readonly instructions?: readonly { readonly server: string; readonly text: string }[];
    }
  /** `what` is `MCP server github`. */
  | { readonly kind: 'not_here'; readonly what: string; readonly message: string };

/** A tool of a server. */
export interface McpTool {
  /** With `mcp` set. */
  readonly spec: ToolSpec;
  /** The texts by which tool search finds it. */
  readonly search?: ToolSearchFields;
}

/** The call that a tool is wanted for. */
export interface McpCall {
  /** The name that the run has for the tool; texts for the model use it. */
  readonly name: string;
  readonly runId: string;
  /** The arguments, by which the server's schema is taken or not: some cost too much to check. */
  readonly args?: JsonObject;
  /** Set when the server has asked and was answered. */
  readonly resume?: CallResume;
  readonly signal: AbortSignal;
  /** The traceparent for the server; absent: none. */
  readonly traceparent?: string;
  /** Whether the agent has `ask_user`; absent: it has not. */
  readonly asksUser?: boolean;
  /** Called with the server's progress, at most four times a second. Must neither wait nor throw. */
  readonly onProgress?: (progress: McpProgress) => void;
}

/** How far a call has come, as its server says. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  /** At most 500 characters. */
  readonly message?: string;
}

/** The tool of a call. */
export type McpBound =
  /** `execute` makes the call. It returns what tools return, or `callInput(…)`. */
  | { readonly kind: 'tool'; readonly tool: ToolDefinition }
  /**
   * The server has no such tool any more: for the model, and not counted. `message` begins with
   * `Error: `.
   */
  | { readonly kind: 'rejected'; readonly message: string }
  /** This worker lacks the server or cannot reach it; `what` is `MCP server github`. */
  | { readonly kind: 'not_here'; readonly what: string };
