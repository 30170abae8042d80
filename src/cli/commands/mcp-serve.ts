/** The command that serves agents and runs to hosts of the Model Context Protocol. */
import { Option, type Command } from 'commander';
import { defined } from '../../core/base/defined.ts';
import { missingPackage } from '../../core/base/missing-package.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { createMcpServer, McpServerParts } from '../../mcp-server/create-mcp-server.ts';
import { AGENT_EFFECTS, agentsOfFile, type AgentEffect } from '../../mcp-server/runs/agents.ts';
import { stopOnSignal } from '../../worker/serve/shutdown.ts';
import { readerTokens } from '../../protection/stream-token.ts';
import { collect, readListen } from '../terminal/arguments.ts';
import { configFor, withClient, type Cli, type CommandRunner } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { CLOSE_MS } from '../terminal/leave.ts';
import { loadAgents } from './load-agents.ts';

/** Where `--http` listens without an address. */
const DEFAULT_ADDRESS = '127.0.0.1:7245';

interface ServeFlags {
  readonly agents?: string;
  readonly http?: string | true;
  readonly allowHost: readonly string[];
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
    .option(
      '--allow-host <name>',
      'further name under which the server is reached over HTTP; repeatable',
      collect,
      [],
    )
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
  const address =
    flags.http === undefined
      ? undefined
      : readListen('--http', flags.http === true ? DEFAULT_ADDRESS : flags.http);
  // An agent file may write to stdout, which belongs to the protocol from now on.
  const streams = address === undefined ? cli.io.openStdio() : undefined;
  // A host starts the server in any folder, whose files are not to be trusted by their name.
  const file = flags.agents === undefined ? undefined : await loadAgents(flags.agents, cli.io.cwd);
  // Other commands start without the time that loading the protocol takes.
  const [{ createMcpServer: create }, { serveOverStdio }] = await Promise.all([
    import('../../mcp-server/create-mcp-server.ts'),
    import('../../mcp-server/serve/stdio.ts'),
  ]).catch(orMissing);
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = (message: string): void => cli.output.note(message);
  const release = stopOnSignal({
    source: cli.io.signals,
    stop: () => stopping.abort(),
    deadlineMs: CLOSE_MS,
  });
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
      const factory = create(options);
      if (streams !== undefined) await serveOverStdio(factory, { streams, signal, log });
      else if (address !== undefined)
        await serveHttp(cli, factory, { ...address, hosts: flags.allowHost, signal });
      // Ends the waits that are still open: their callers are gone.
      stopping.abort();
      return EXIT_CODES.success;
    });
  } finally {
    release();
  }
}

interface ServedAddress {
  readonly host: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly signal: AbortSignal;
}

async function serveHttp(
  cli: Cli,
  factory: ReturnType<typeof createMcpServer>,
  { host, port, hosts, signal }: ServedAddress,
): Promise<void> {
  const { output } = cli;
  const tokens = readerTokens((await configFor(cli)).mcpToken ?? '');
  const log = (message: string): void => output.note(message);
  const { serveOverHttp } = await import('../../mcp-server/serve/http.ts').catch(orMissing);
  const serving = await serveOverHttp(factory, { host, port, hosts, tokens, log });
  output.note(`Ready. MCP clients reach the server at ${serving.url} · Ctrl-C stops.`);
  output.json({ url: serving.url });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await serving.close();
}

function orMissing(cause: unknown): never {
  throw missingPackage(cause, {
    code: 'mcp_package',
    name: '@modelcontextprotocol/server',
    what: '`mcp serve`',
    install: 'npm install @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/node@2.1.2',
  });
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
