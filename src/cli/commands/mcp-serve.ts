/** The command that serves agents and runs to hosts of the Model Context Protocol. */
import { Option, type Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { createMcpServer, type McpServerParts } from '../../mcp-server/create-mcp-server.ts';
import { agentsOfFile } from '../../mcp-server/runs/agents.ts';
import { serveOverHttp } from '../../mcp-server/serve/http.ts';
import { serveOverStdio } from '../../mcp-server/serve/stdio.ts';
import { AGENT_EFFECTS, type AgentEffect } from '../../mcp-server/tools/agent-tools.ts';
import { stopOnSignal } from '../../worker/serve/shutdown.ts';
import { withClient, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { hasAgentFile, loadAgents } from './load-agents.ts';

/** Where `--http` listens without an address. */
const DEFAULT_ADDRESS = '127.0.0.1:7245';

interface ServeFlags {
  readonly agents?: string;
  readonly http?: string | true;
  readonly hosts?: string;
  readonly allow?: string;
  readonly readOnly?: boolean;
  readonly expose?: 'agents';
  readonly agentEffect: AgentEffect;
}

/** Adds `mcp serve`. */
export function addMcpServeCommand(mcp: Command, act: CommandRunner): void {
  mcp
    .command('serve')
    .summary('serve agents and runs to MCP hosts')
    .description(
      'Serves agents and runs to hosts of the Model Context Protocol until stdin ends or Ctrl-C: over ' +
        'stdin and stdout, or over HTTP at the path /mcp. Needs a Temporal server, and workers that ' +
        'serve the agents.',
    )
    .option('--agents <file>', 'agent file, for descriptions and inputs of its agents')
    .option('--http [address]', `serve over HTTP at this address; default ${DEFAULT_ADDRESS}`)
    .option('--hosts <names>', 'further names, separated by commas, that callers use in URLs')
    .option('--allow <agents>', 'only these agents and their runs; names separated by commas')
    .option('--read-only', 'offer nothing that starts or changes runs')
    .addOption(
      new Option('--expose <what>', 'agents: each agent as a tool too').choices(['agents']),
    )
    .addOption(
      new Option('--agent-effect <effect>', 'what calls of agents do, as hosts are told')
        .choices(AGENT_EFFECTS)
        .default('once'),
    )
    .action((flags: ServeFlags) => act((cli) => serve(cli, flags)));
}

async function serve(cli: Cli, flags: ServeFlags): Promise<number> {
  const allow = namesOf('--allow', flags.allow);
  const hosts = namesOf('--hosts', flags.hosts);
  const address = flags.http === undefined ? undefined : addressOf(flags.http);
  // An agent file may write to stdout, which belongs to the protocol from now on.
  const streams = address === undefined ? cli.io.openStdio() : undefined;
  const file = hasAgentFile(flags.agents, cli.io.cwd)
    ? await loadAgents(flags.agents, cli.io.cwd)
    : undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = (message: string): void => cli.output.note(message);
  const release = stopOnSignal({ source: cli.io.signals, stop: () => stopping.abort() });
  try {
    return await withClient(cli, async (everloop) => {
      const options: McpServerParts = {
        everloop,
        readOnly: flags.readOnly === true,
        exposeAgents: flags.expose === 'agents',
        agentEffect: flags.agentEffect,
        signal,
        log,
        ...defined({ allow, agents: file && agentsOfFile(file.agents) }),
      };
      const factory = createMcpServer(options);
      if (streams !== undefined) await serveOverStdio(factory, { streams, signal, log });
      else if (address !== undefined) await serveHttp(cli, factory, { ...address, hosts, signal });
      // Waits that are left belong to nobody.
      stopping.abort();
      return EXIT_CODES.success;
    });
  } finally {
    release();
  }
}

interface ServedAddress extends Address {
  readonly hosts: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

async function serveHttp(
  { io, output }: Cli,
  factory: ReturnType<typeof createMcpServer>,
  { host, port, hosts, signal }: ServedAddress,
): Promise<void> {
  const token = io.env['EVERLOOP_MCP_TOKEN']?.trim() || undefined;
  const log = (message: string): void => output.note(message);
  const serving = await serveOverHttp(factory, { host, port, log, ...defined({ token, hosts }) });
  output.note(`Ready. MCP clients reach the server at ${serving.url} · Ctrl-C stops.`);
  output.json({ url: serving.url });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await serving.close();
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:7245`, `[::1]:7245` */
function addressOf(given: string | true): Address {
  const text = given === true ? DEFAULT_ADDRESS : given;
  const [, v6, name, digits = ''] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new UsageError(
    'argument',
    `Expected \`--http\` to be a host and a port, got \`${text.slice(0, 200)}\`. Write it as \`--http ${DEFAULT_ADDRESS}\`.`,
  );
}

/** Names that commas separate; at least one. */
function namesOf(option: string, text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  if (!names.includes('')) return names;
  throw new UsageError(
    'argument',
    `Expected \`${option}\` to be names separated by commas, got \`${text.slice(0, 200)}\`. Write it as \`${option} one,two\`.`,
  );
}
