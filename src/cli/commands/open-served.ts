/** A client for one command, with a worker of this process when the agent file is to be served here. */
import type { Everloop } from '../../client/everloop-client.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { configFor, openClient, type Cli } from '../terminal/cli.ts';
import { hasAgentFile, loadAgents } from './load-agents.ts';

/** How an agent is reached. */
export interface ServedOptions {
  /** The agent file; default: `agents.ts`, when it is there. */
  readonly agents?: string;
  /** Whether to serve it; default: on a server of this machine. */
  readonly serve?: boolean;
  /** Whether this process stays long enough to serve anything. */
  readonly mayServe: boolean;
}

/** A client, and whether this process serves the agent. */
export interface ServedEverloop {
  readonly everloop: Everloop & { close(): Promise<void> };
  readonly isServed: boolean;
}

/** A worker of this process that ends with the command: others' calls that it took go elsewhere. */
const SHUTDOWN_GRACE_MS = 2_000;

/** Opens a client; throws a UsageError `agent_not_found` when the file to serve has no such agent. */
export async function openServed(
  cli: Cli,
  agent: string,
  options: ServedOptions,
): Promise<ServedEverloop> {
  const { io } = cli;
  const config = configFor(cli);
  const isOwnServer = config.temporal.address === undefined;
  const serves = options.mayServe && (options.serve ?? isOwnServer);
  if (!serves || !(options.serve === true || (await hasAgentFile(options.agents, io.cwd)))) {
    return { everloop: await openClient(cli), isServed: false };
  }
  const file = await loadAgents(options.agents, io.cwd);
  const names = file.agents.map(({ name }) => name);
  if (!names.includes(agent)) {
    throw new UsageError(
      'agent_not_found',
      `Expected an agent of \`${file.path}\` (${names.join(', ')}), got \`${agent}\`. Choose one of ` +
        'them, or leave the run to other workers with `--no-serve`.',
    );
  }
  const { agents, models } = file;
  const { taskQueue } = config;
  const shutdownGraceMs = SHUTDOWN_GRACE_MS;
  const everloop = await io.local({ agents, models, env: io.env, taskQueue, shutdownGraceMs });
  return { everloop, isServed: true };
}
