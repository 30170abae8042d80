/** The servers of a worker as activities use them: see `McpTools`. */
import { defined } from '../core/base/defined.ts';
import { isJsonObject, type JsonObject } from '../core/base/json.ts';
import { usageErrorOf } from '../core/base/usage-error.ts';
import type { ToolResult } from '../core/contract/outcome.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import { fieldLines } from '../core/toolchain/catalogue.ts';
import type { ToolDefinition } from '../define/definition/definitions.ts';
import type { McpServerDefinition } from '../define/definition/mcp-server.ts';
import type { McpBound, McpCall, McpListing, McpTool, McpTools } from '../define/mcp/mcp-tools.ts';
import { schemaProblem } from '../define/schema/schema.ts';
import { fitValue } from '../tools/fit-value.ts';
import { unfitArguments } from '../tools/read-outcome.ts';
import { callServer, type McpCallParts } from './calls/call.ts';
import { isCheckable } from './catalogue/check-cost.ts';
import type { Catalogue, CatalogueTool } from './catalogue/catalogue.ts';
import { warning } from './catalogue/catalogue-warnings.ts';
import { errorText } from '../core/base/error-text.ts';
import { knownServers } from './known-servers.ts';
import { NO_OBSERVER, type McpObserver } from './connection/mcp-observer.ts';
import type { McpLog } from './text/log.ts';
import { createReaper } from './transport/reaper.ts';
import type { McpEnvironment } from './text/secrets.ts';
import { McpServerState } from './server-state.ts';
import { withSuffix } from './catalogue/tool-name.ts';

/** The options of {@link createMcpTools}. */
export interface McpToolsOptions {
  /** The servers of all agents of this worker; one may occur often. */
  readonly servers: Iterable<McpServerDefinition>;
  /** Default: that of this process. */
  readonly environment?: McpEnvironment;
  /** Default: nothing is logged. */
  readonly log?: McpLog;
  /** Default: nothing watches. */
  readonly observer?: McpObserver;
}

/** {@link McpTools}, and the catalogues for commands that show them. */
export interface WorkerMcpTools extends McpTools {
  /** The catalogue of the server; rejects if it cannot be reached or there is no such server. */
  catalogue(server: string): Promise<Catalogue>;
  /** Reads the catalogues of all servers in the background, so that the first runs need not wait. */
  warm(): void;
}

/** An object of any fields: what is checked by a schema that may be a newer one. */
const ANY_OBJECT: JsonObject = { type: 'object' };

/**
 * Makes the servers of a worker. It connects when a server is first needed.
 *
 * @throws UsageError for variables that are not set, lock files that cannot be read, and two servers of
 * one name, a line each.
 */
export function createMcpTools(options: McpToolsOptions): WorkerMcpTools {
  const { environment = process.env, log = () => undefined, observer = NO_OBSERVER } = options;
  const known = knownServers(options.servers, environment);
  if (known.kind === 'problems') throw usageErrorOf(known.problems);
  const reaper = createReaper(log);
  const states = new Map<string, McpServerState>();
  for (const [name, server] of known.servers) {
    states.set(name, new McpServerState(server, { environment, reaper, log, observer }));
    const { pin, allow } = server.definition;
    if (pin !== undefined || allow !== undefined) continue;
    const advice = 'Name them in `tools.allow`, or pin them with `everloop mcp lock`.';
    const text = `all tools are used as the server lists them. ${advice}`;
    log('warn', warning(server.definition, 'mcp_unpinned', text).message);
  }
  const stateOf = (name: string): McpServerState => {
    const state = states.get(name);
    if (state === undefined) throw new Error(`This worker has no MCP server ${name}.`);
    return state;
  };
  return {
    list: (servers) => list(servers, states),
    bind: async (binding, call) => {
      const what = `MCP server ${binding.server}`;
      const server = known.servers.get(binding.server)?.definition;
      const state = states.get(binding.server);
      if (server === undefined || state === undefined) return { kind: 'not_here', what };
      let catalogue: Catalogue;
      try {
        catalogue = await state.catalogue();
      } catch {
        return { kind: 'not_here', what };
      }
      const tool = findTool(catalogue, binding.tool);
      if (tool === undefined) {
        const message = `Error: the server ${binding.server} has no tool ${binding.tool} any more.`;
        return { kind: 'rejected', message };
      }
      const { pool, redactor } = state;
      return boundTool(
        { server, pool, redactor, observer, tool, call },
        binding.hash === tool.hash,
      );
    },
    close: async () => {
      await Promise.all([...states.values()].map((state) => state.pool.close()));
      reaper.stop();
    },
    catalogue: async (name) => stateOf(name).catalogue(),
    warm: () => {
      for (const state of states.values()) state.catalogue().catch(() => undefined);
    },
  };
}

async function list(
  servers: readonly McpServerDefinition[],
  states: ReadonlyMap<string, McpServerState>,
): Promise<McpListing> {
  const read = await Promise.all(
    servers.map(async (server) => ({ server, ...(await catalogueOf(states.get(server.name))) })),
  );
  const tools: McpTool[] = [];
  const warnings: { readonly code: string; readonly message: string }[] = [];
  const instructions: { readonly server: string; readonly text: string }[] = [];
  const names = new Set<string>();
  for (const { server, catalogue, message = '' } of read) {
    if (catalogue === undefined) {
      const what = `MCP server ${server.name}`;
      if (!server.optional) return { kind: 'not_here', what, message };
      warnings.push(warning(server, 'mcp_unavailable', `its tools are left out. ${message}`));
      continue;
    }
    warnings.push(...catalogue.warnings);
    const text = catalogue.instructions;
    if (text !== undefined && text !== '') instructions.push({ server: server.name, text });
    for (const { spec, search, tool } of catalogue.tools) {
      const name = freeName(spec.name, `${server.name}/${tool}`, names);
      tools.push({ spec: { ...spec, name }, search });
    }
  }
  const sorted = tools.toSorted((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
  return {
    kind: 'listed',
    tools: sorted,
    warnings,
    ...defined({ instructions: instructions.length === 0 ? undefined : instructions }),
  };
}

async function catalogueOf(
  state: McpServerState | undefined,
): Promise<{ readonly catalogue?: Catalogue; readonly message?: string }> {
  if (state === undefined) return { message: 'This worker does not have it.' };
  try {
    return { catalogue: await state.catalogue() };
  } catch (error) {
    return { message: errorText(error) };
  }
}

/** `name`, or another if it is taken; names that differ in `-` and `_` only are one to programs. */
function freeName(name: string, from: string, taken: Set<string>): string {
  const key = (it: string): string => it.replaceAll('-', '_');
  const free = taken.has(key(name)) ? withSuffix(name, from) : name;
  taken.add(key(free));
  return free;
}

function findTool({ tools, leftOut }: Catalogue, tool: string): CatalogueTool | undefined {
  const unpinned = leftOut.flatMap((it) => it.unpinned ?? []);
  return [...tools, ...unpinned].find((it) => it.tool === tool);
}

function boundTool(parts: McpCallParts, isSame: boolean): McpBound {
  const { tool, call } = parts;
  const { spec } = tool;
  const schema = spec.parameters ?? ANY_OBJECT;
  // A schema that does not compile, takes too long, or lacks an expression is the server's to check.
  const isFit =
    tool.isStricter !== true &&
    isCheckable(schema, call.args ?? {}) &&
    schemaProblem(schema) === undefined;
  const checkable = isFit ? schema : ANY_OBJECT;
  const own: ToolSpec = {
    ...spec,
    name: call.name,
    parameters: isSame ? spec.parameters && checkable : ANY_OBJECT,
  };
  const bound: ToolDefinition = {
    kind: 'tool',
    spec: own,
    standard: null,
    search: tool.search,
    ...defined({ approval: tool.approval }),
    execute: async (args, context) => {
      const given = isJsonObject(args as JsonObject) ? (args as JsonObject) : {};
      const fit = isSame ? given : await newArguments(call, checkable, given, context.attempt);
      return callServer(parts, fit, context);
    },
  };
  return { kind: 'tool', tool: bound };
}

/** The arguments by the schema of now, with which the run did not begin. */
async function newArguments(
  { name }: McpCall,
  schema: JsonObject,
  args: JsonObject,
  attempts: number,
): Promise<JsonObject> {
  const fit = await fitValue({ json: schema, standard: null }, args);
  if (fit.kind === 'fits') return fit.value as JsonObject;
  const fields = fieldLines(schema);
  const error = [
    `Error: ${name} has changed since this run began; its arguments are now: ${fields === '' ? 'none' : `\n${fields}`}`,
    ...fit.lines.map((line) => `- ${line}`),
  ].join('\n');
  const result: ToolResult = { outcome: 'rejected', error, attempts, started: false };
  throw unfitArguments({ kind: 'result', result });
}
