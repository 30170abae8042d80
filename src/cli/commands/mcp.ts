/**
 * The commands of servers of the Model Context Protocol: what they offer, calls, and the lock file;
 * and the command that serves agents to its hosts.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { loadMcpTools } from '../../mcp/load-mcp-tools.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { nearestName } from '../../core/text/nearest.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { McpServerDefinition } from '../../define/definition/mcp-server.ts';
import {
  lockDifferences,
  readLockFile,
  writeLockFile,
  type LockDifference,
} from '../../mcp/catalogue/lock-file.ts';
import { lockedOf, type Catalogue } from '../../mcp/catalogue/catalogue.ts';
import { callOnce } from '../../mcp/call-once.ts';
import type { WorkerMcpTools } from '../../mcp/mcp-tools.ts';
import { readJsonObject } from '../terminal/arguments.ts';
import { print, untilInterrupted, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { valueText } from '../terminal/text.ts';
import { catalogueText, differenceText } from '../views/mcp-text.ts';
import { loadAgents } from './load-agents.ts';
import { addMcpServeCommand } from './mcp-serve.ts';

/** The lock file of servers whose definition names none. */
const LOCK_FILE = './everloop-mcp.lock.json';

interface McpFlags {
  readonly agents?: string;
}

/** Adds `mcp` and its commands. */
export function addMcpCommand(program: Command, act: CommandRunner): void {
  const mcp = program
    .command('mcp')
    .summary('look at the MCP servers of agents, or serve agents to MCP hosts')
    .description(
      'Shows what the servers of the Model Context Protocol offer that the agents of a file use. ' +
        'Needs no Temporal server: it starts or reaches the servers themselves. Only `serve` is a ' +
        'server of its own, for the agents and runs of a Temporal server.',
    );
  addListCommand(mcp, act);
  addCallCommand(mcp, act);
  addLockCommand(mcp, act);
  addCheckCommand(mcp, act);
  addMcpServeCommand(mcp, act);
}

function withAgents(command: Command): Command {
  return command.option('--agents <file>', 'the agent file; default `agents.ts`');
}

function addListCommand(mcp: Command, act: CommandRunner): void {
  withAgents(mcp.command('ls'))
    .summary('list the tools of servers')
    .description(
      'Lists the tools of each server, with the effect and approval of their calls and their hash, and ' +
        'those that agents do not get, with the reason.',
    )
    .argument('[server]', 'name of one server; default all')
    .action((name: string | undefined, flags: McpFlags) =>
      act((cli) =>
        withServers(cli, flags, name, async (servers, tools) => {
          const listed = await cataloguesOf(servers, tools);
          const value = listed.map(({ server, catalogue }) => catalogueValue(server, catalogue));
          const text = listed
            .map(({ server, catalogue }) => catalogueText(server.name, catalogue))
            .join('\n\n');
          return print(cli, text, value);
        }),
      ),
    );
}

function addCallCommand(mcp: Command, act: CommandRunner): void {
  withAgents(mcp.command('call'))
    .summary('call a tool of a server')
    .description('Calls a tool as an agent would, but without asking for an approval.')
    .argument('<server>', 'name of the server')
    .argument('<tool>', "the server's name of the tool")
    .option('--args <json>', "its arguments as a JSON object, or @ and a file's path")
    .action((name: string, tool: string, flags: McpFlags & { readonly args?: string }) =>
      act((cli) =>
        withServers(cli, flags, name, async (_servers, tools) => {
          const args = await readJsonObject('--args', flags.args, cli.io.cwd);
          return untilInterrupted(cli, (signal) =>
            callTool(cli, tools, { name, tool, args, signal }),
          );
        }),
      ),
    );
}

interface OneCall {
  readonly name: string;
  readonly tool: string;
  readonly args: JsonObject | undefined;
  readonly signal: AbortSignal;
}

async function callTool(
  cli: Cli,
  tools: WorkerMcpTools,
  { name, tool, args = {}, signal }: OneCall,
): Promise<number> {
  const catalogue = await tools.catalogue(name);
  const names = catalogue.tools.map((it) => it.tool);
  if (!names.includes(tool)) throw unknown(`tool of MCP server \`${name}\``, tool, names);
  const called = await callOnce(tools, { server: name, tool, args, signal });
  const { output, media = [], asks, error } = called;
  for (const { mediaType } of media) cli.output.note(`[${mediaType}]`);
  cli.output.text(error ?? valueText((asks ?? output ?? null) as Json));
  cli.output.json(called);
  return error === undefined ? EXIT_CODES.success : EXIT_CODES.runFailed;
}

function addLockCommand(mcp: Command, act: CommandRunner): void {
  withAgents(mcp.command('lock'))
    .summary('pin the tools of servers as they are now')
    .description(
      'Writes the hash and effect of each tool into the lock file that `pin` names, default ' +
        '`everloop-mcp.lock.json`. New runs of agents with `pin` get tools only as they stand there.',
    )
    .argument('[server]', 'name of one server; default all')
    .action((name: string | undefined, flags: McpFlags) =>
      act((cli) =>
        withServers(cli, flags, name, async (servers, tools) => {
          const files = new Map<string, Record<string, ReturnType<typeof lockedOf>>>();
          for (const { server, catalogue } of await cataloguesOf(servers, tools)) {
            const file = lockFileOf(server, cli);
            const known = files.get(file) ?? { ...lockedIn(file) };
            files.set(file, { ...known, [server.name]: lockedOf(catalogue) });
          }
          for (const [file, locked] of files) await writeLockFile(file, locked);
          const written = [...files].map(([file, locked]) => ({ file, servers: locked }));
          const text = written.map(
            ({ file, servers: of }) => `${file}: ${Object.keys(of).join(', ')}`,
          );
          return print(cli, text.join('\n'), written);
        }),
      ),
    );
}

function addCheckCommand(mcp: Command, act: CommandRunner): void {
  withAgents(mcp.command('check'))
    .summary('compare servers with the lock file')
    .description(
      'Compares the tools of each server with the lock file. Exits with 1 if they differ, so that a ' +
        'pipeline can stop.',
    )
    .argument('[server]', 'name of one server; default all')
    .action((name: string | undefined, flags: McpFlags) =>
      act((cli) =>
        withServers(cli, flags, name, async (servers, tools) => {
          const differences: LockDifference[] = [];
          for (const { server, catalogue } of await cataloguesOf(servers, tools)) {
            const { servers: locked } = readLockFile(lockFileOf(server, cli));
            const own = Object.hasOwn(locked, server.name) ? locked[server.name] : undefined;
            differences.push(...lockDifferences(server.name, own, lockedOf(catalogue)));
          }
          const isSame = differences.length === 0;
          print(cli, isSame ? 'No difference.' : differenceText(differences), differences);
          return isSame ? EXIT_CODES.success : EXIT_CODES.runFailed;
        }),
      ),
    );
}

type Work = (servers: readonly McpServerDefinition[], tools: WorkerMcpTools) => Promise<number>;

/** Loads the agent file, opens its servers, or the one of this name, and closes them after `work`. */
async function withServers(
  cli: Cli,
  { agents: path }: McpFlags,
  name: string | undefined,
  work: Work,
): Promise<number> {
  const { agents } = await loadAgents(path, cli.io.cwd);
  const all = new Map(agents.flatMap(({ servers = [] }) => servers).map((it) => [it.name, it]));
  if (name !== undefined && !all.has(name))
    throw unknown('server of the file', name, [...all.keys()]);
  const servers = [...all.values()].filter((it) => name === undefined || it.name === name);
  const { createMcpTools } = await loadMcpTools();
  const tools = createMcpTools({
    servers: servers.map((server) => withPin(server, cli)),
    environment: cli.io.env,
    log: (level, message) => {
      if (level === 'warn') cli.output.note(`warning: ${message}`);
    },
  });
  try {
    return await work(servers, tools);
  } finally {
    await tools.close();
  }
}

/** The server with its lock file, once there is one. */
function withPin({ pin, ...server }: McpServerDefinition, { io }: Cli): McpServerDefinition {
  const file = pin === undefined ? undefined : resolve(io.cwd, pin);
  return file === undefined || !existsSync(file) ? server : { ...server, pin: file };
}

function unknown(what: string, name: string, names: readonly string[]): UsageError {
  const near = nearestName(name, names);
  const advice = near === undefined ? 'Choose one of them.' : `Did you mean \`${near}\`?`;
  const listed = names.slice(0, 20).join(', ') || 'there is none';
  return new UsageError('argument', `Expected a ${what} (${listed}), got \`${name}\`. ${advice}`);
}

async function cataloguesOf(
  servers: readonly McpServerDefinition[],
  tools: WorkerMcpTools,
): Promise<readonly { readonly server: McpServerDefinition; readonly catalogue: Catalogue }[]> {
  return Promise.all(
    servers.map(async (server) => ({ server, catalogue: await tools.catalogue(server.name) })),
  );
}

function catalogueValue({ name }: McpServerDefinition, catalogue: Catalogue): Json {
  const { identity, tools, leftOut, warnings } = catalogue;
  return {
    server: name,
    identity,
    tools: tools.map(({ tool, hash, spec }) =>
      defined({ tool, name: spec.name, effect: spec.effect, approval: spec.approval, hash }),
    ),
    leftOut: leftOut.map(({ tool, effect, hash, reason }) =>
      defined({ tool, effect, hash, reason }),
    ),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

function lockFileOf({ pin = LOCK_FILE }: McpServerDefinition, { io }: Cli): string {
  return resolve(io.cwd, pin);
}

/** The servers that the file has so far; none if there is no file. */
function lockedIn(file: string): ReturnType<typeof readLockFile>['servers'] {
  return existsSync(file) ? readLockFile(file).servers : {};
}
