/** A Model Context Protocol server as an agent names it: what `mcpServer` returns. */
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { RetrySpec, ToolEffect } from '../../core/contract/spec.ts';
import type { ToolSearchFields } from './tool-search-options.ts';

/** A text, or the name of a variable of the worker's environment that holds it. */
export type McpValue = string | { readonly env: string };

/** How a worker reaches a server. */
export type McpTransport =
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: { readonly [name: string]: McpValue };
      readonly auth?: McpAuth;
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: McpValue };
      readonly cwd?: string;
    };

/**
 * Gives the bearer token of a run, such as that of the person who speaks to it; called on the worker for
 * each request, and kept in no history. `info` has no context. Undefined: the worker lists the tools,
 * which are the same for all runs.
 */
export type McpTokenFunction = (info: RunInfo | undefined) => string | Promise<string>;

/** How a worker proves who it is; read when it connects, and kept in no history. */
export type McpAuth =
  | McpTokenFunction
  | { readonly bearer: { readonly env: string } }
  | { readonly clientCredentials: McpClientCredentials };

/** OAuth 2.1 between machines. */
export interface McpClientCredentials {
  readonly clientId: McpValue;
  readonly clientSecret: { readonly env: string };
  readonly scope?: string;
  /** URL of the authorization server, which alone gets the secret. */
  readonly issuer: string;
}

/** Which calls a person approves. */
export type McpApproval =
  | 'never'
  | 'destructive'
  | 'always'
  | ((tool: string, args: unknown) => boolean | Promise<boolean>);

/** What an agent says of one tool in place of its server. */
export interface McpToolOverride {
  readonly name?: string;
  readonly description?: string;
  readonly policy?: string;
  readonly effect?: ToolEffect;
  readonly local?: boolean;
  readonly timeoutMs?: number;
  readonly retry?: RetrySpec;
  readonly approval?: McpApproval;
  /** How long an approval of a call, and a question of the server, waits. Default: for ever. */
  readonly approvalTimeoutMs?: number;
  readonly cache?: boolean;
  readonly maxResultBytes?: number;
  readonly sequential?: boolean;
  readonly search?: ToolSearchFields;
  /** `decline`: no person is asked what the server asks within the call. */
  readonly questions?: 'decline';
}

/** A server with checked options and all defaults. */
export interface McpServerDefinition {
  readonly kind: 'mcp_server';
  readonly name: string;
  readonly transport: McpTransport;
  /** What the names of its tools begin with; may be empty. */
  readonly prefix: string;
  /** Names of tools, `*` for any characters. Absent: no such list. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly overrides: { readonly [tool: string]: McpToolOverride };
  readonly approval: McpApproval;
  /** The lock file. Absent: descriptions are not pinned. */
  readonly pin?: string;
  /** True: tools that list and read the server's resources, or its prompts. */
  readonly resources: boolean;
  readonly prompts: boolean;
  /** True: the server's own instructions follow the agent's rules. */
  readonly instructions: boolean;
  /** True: runs start without the server while it cannot be reached. */
  readonly optional: boolean;
  /** `run`: each run has a connection, and so a process, of its own. */
  readonly scope: 'worker' | 'run';
  readonly maxConcurrent: number;
  readonly idleMs: number;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
}
