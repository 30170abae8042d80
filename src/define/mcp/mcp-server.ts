import { defined } from '../../core/base/defined.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import type {
  McpApproval,
  McpAuth,
  McpClientCredentials,
  McpServerDefinition,
  McpTokenFunction,
  McpToolOverride,
  McpTransport,
  McpValue,
} from '../definition/mcp-server.ts';
import { serverProblems } from './mcp-server-problems.ts';

/** The defaults of {@link McpServerOptions}. */
export const MCP_DEFAULTS = {
  /** A server that is asked more at once queues anyway, and its process grows. */
  maxConcurrent: 16,
  /** Five minutes: longer than most runs pause between calls. */
  idleMs: 300_000,
  /** As of other tools. */
  timeoutMs: 60_000,
  /** `npx` needs some seconds to find and start a package. */
  connectTimeoutMs: 8_000,
} as const;

/** The options of {@link mcpServer}. */
export interface McpServerOptions {
  /** A letter, then up to 31 letters, digits, `_` or `-`. Unique among the servers of a worker. */
  readonly name: string;
  /** The endpoint for streamable HTTP: https, or http on this machine. Either this or `command`. */
  readonly url?: string;
  /** The program that is the server, over stdio. Started without a shell. */
  readonly command?: string;
  /** The arguments of `command`. Default: none. */
  readonly args?: readonly string[];
  /**
   * Environment of `command`: texts, or `{ env: 'NAME' }` for a variable of the worker. Nothing else
   * is inherited but HOME, LOGNAME, PATH, SHELL, TERM and USER. Default: nothing.
   */
  readonly env?: { readonly [name: string]: McpValue };
  /** The folder in which `command` starts. Default: that of the worker. */
  readonly cwd?: string;
  /** Headers of every request to `url`; values as in `env`. Default: none. */
  readonly headers?: { readonly [name: string]: McpValue };
  /**
   * How the worker proves who it is. Secrets are names of variables of the worker, read when it
   * connects. A function gives the token of a run; then the scope is `run`. Default: it does not.
   */
  readonly auth?: McpAuthOptions;
  /** What the names of its tools begin with; may be empty. Default: `{name}_`. */
  readonly prefix?: string;
  /** Which tools are used; names with `*` for any characters. Default: all. */
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  /** What is said of single tools in place of the server, by the server's name of the tool. */
  readonly overrides?: { readonly [tool: string]: McpToolOverride };
  /**
   * Which calls a person approves: none, those of tools that may destroy something, all, or those for
   * which the function returns true. Default `never`.
   */
  readonly approval?: McpApproval;
  /** The lock file that `everloop mcp lock` writes; changed tools are left out. Default: none. */
  readonly pin?: string;
  /** True: tools that list and read the server's resources. Default false. */
  readonly resources?: boolean;
  /** True: tools that list and get the server's prompts. Default false. */
  readonly prompts?: boolean;
  /**
   * True: the server's own instructions follow the agent's rules, framed as untrusted, at most 4,000
   * characters. Default false.
   */
  readonly instructions?: boolean;
  /** True: runs start without the server while it cannot be reached. Default false. */
  readonly optional?: boolean;
  /**
   * `worker`: one connection for all runs of a worker. `run`: a connection, and so a process, for
   * each run, for servers with state. Default `worker`.
   */
  readonly scope?: 'worker' | 'run';
  /** Calls at once per connection, from 1. Default 16. */
  readonly maxConcurrent?: number;
  /** Milliseconds after which an unused connection is closed, from 1. Default 300,000. */
  readonly idleMs?: number;
  /** Milliseconds that a call may take, from 1. Default 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds that connecting and listing may take, from 1. Default 8,000. */
  readonly connectTimeoutMs?: number;
}

/** How a worker proves to a server who it is. */
export type McpAuthOptions =
  | McpTokenFunction
  | Extract<McpAuth, { readonly bearer: unknown }>
  | {
      /** OAuth 2.1 between machines; default of `issuer`: the origin of `url`. */
      readonly clientCredentials: Omit<McpClientCredentials, 'issuer'> &
        Partial<Pick<McpClientCredentials, 'issuer'>>;
    };

/**
 * A server of the Model Context Protocol, whose tools an agent uses like its own. Put it into `tools`
 * of an agent. Servers of the revisions 2025-03-26 to 2026-07-28 are understood.
 *
 * @throws UsageError with all problems of the options, a line each.
 * @example
 * const files = mcpServer({
 *   name: 'files',
 *   command: 'npx',
 *   args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '/srv/reports'],
 *   tools: { allow: ['read_*', 'list_*'] },
 * });
 */
export function mcpServer(options: McpServerOptions): McpServerDefinition {
  const problems = serverProblems(options);
  if (problems.length > 0) throw usageErrorOf(problems, `MCP server \`${String(options.name)}\`: `);
  const { name, tools = {}, maxConcurrent, idleMs, timeoutMs, connectTimeoutMs } = options;
  return {
    kind: 'mcp_server',
    name,
    transport: transportOf(options),
    prefix: options.prefix ?? `${name}_`,
    ...defined({ allow: tools.allow, deny: tools.deny, pin: options.pin }),
    overrides: options.overrides ?? {},
    approval: options.approval ?? 'never',
    resources: options.resources ?? false,
    prompts: options.prompts ?? false,
    instructions: options.instructions ?? false,
    optional: options.optional ?? false,
    // A connection is known to its server by the token with which it was made.
    scope: typeof options.auth === 'function' ? 'run' : (options.scope ?? 'worker'),
    ...MCP_DEFAULTS,
    ...defined({ maxConcurrent, idleMs, timeoutMs, connectTimeoutMs }),
  };
}

function transportOf({ url, command, ...options }: McpServerOptions): McpTransport {
  if (command !== undefined) {
    const { args = [], env = {}, cwd } = options;
    return { kind: 'stdio', command, args, env, ...defined({ cwd }) };
  }
  // `serverProblems` has refused a server with neither; the compiler does not know.
  const address = url ?? '';
  const { headers = {}, auth } = options;
  if (auth === undefined || typeof auth === 'function' || 'bearer' in auth) {
    return { kind: 'http', url: address, headers, ...defined({ auth }) };
  }
  const {
    clientId,
    clientSecret,
    scope,
    issuer = new URL(address).origin,
  } = auth.clientCredentials;
  const clientCredentials = { clientId, clientSecret, issuer, ...defined({ scope }) };
  return { kind: 'http', url: address, headers, auth: { clientCredentials } };
}
