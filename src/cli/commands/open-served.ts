/** Opens a client for one command and, if needed, a worker that serves the agent file. */
import type { ConnectedEverloop } from '../../client/connect.ts';
import type { StartOptions } from '../../client/everloop-client.ts';
import { defined } from '../../core/base/defined.ts';
import type { LocalEverloop } from '../../worker/serve/local.ts';
import { readCallbacks, readJsonObject, readLimits } from '../terminal/arguments.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { configFor, openClient, servedQueue, type Cli } from '../terminal/cli.ts';
import { hasAgentFile, loadAgents, workflowsFile } from './load-agents.ts';

/** Options of {@link openServed}. */
export interface ServedOptions {
  /** The agent file; default: `agents.ts`, if it exists. */
  readonly agents?: string;
  /** The file of own loops, formats, …; default: none. */
  readonly workflows?: string;
  /** Whether to serve it; default: only on a server on this machine. */
  readonly serve?: boolean;
  /** False for a command that does not wait for the run. */
  readonly mayServe: boolean;
  /** The callbacks of the runs to start. */
  readonly onEvent: readonly string[];
}

/** The options of commands that start runs. */
export interface StartFlags extends Omit<ServedOptions, 'mayServe'> {
  readonly context?: string;
  readonly id?: string;
  readonly limit: readonly string[];
  readonly model?: string;
  /** Of `run`. */
  readonly settings?: string;
}

/** The help of `--on-event`. */
export const ON_EVENT_HELP =
  'address to call back at questions, limits and ends, or a JSON object with url, events and content; repeatable';

/** What such a command starts its runs with. */
export async function startFrom(
  { io }: Cli,
  { context, limit, model, settings, onEvent }: StartFlags,
): Promise<Pick<StartOptions, 'context' | 'limits' | 'model' | 'settings' | 'onEvent'>> {
  return defined({
    context: await readJsonObject('--context', context, io.cwd),
    limits: readLimits(limit),
    model,
    settings: await readJsonObject('--settings', settings, io.cwd),
    onEvent: await readCallbacks(onEvent, io.cwd),
  });
}

/** Short, because other workers can take over calls of other runs. */
const SHUTDOWN_GRACE_MS = 2_000;

/** How long a worker of a command's own may take to stop, in ms. */
export const SERVED_CLOSE_MS: number = SHUTDOWN_GRACE_MS + 1_000;

const NO_SECRET =
  'EVERLOOP_CALLBACK_SECRET is not set, so this process sends no callbacks. They wait, for at most a day, for a worker that has it.';

/**
 * Opens a client; throws a UsageError `agent_not_found` when the file to serve has no such agent.
 */
export async function openServed(
  cli: Cli,
  agent: string,
  options: ServedOptions,
): Promise<{ readonly everloop: ConnectedEverloop | LocalEverloop; readonly isServed: boolean }> {
  const { io } = cli;
  const config = await configFor(cli);
  const isOwnServer = config.temporal.address === undefined;
  const serves = options.mayServe && (options.serve ?? isOwnServer);
  if (!serves || !(options.serve === true || hasAgentFile(options.agents, io.cwd))) {
    return { everloop: await (serves ? openWithoutFile(cli) : openClient(cli)), isServed: false };
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
  if (options.onEvent.length > 0 && config.callbackSecrets === undefined)
    cli.output.note(NO_SECRET);
  const { agents, models, url: agentsModule } = file;
  const everloop = await io.local({
    agents,
    models,
    agentsModule,
    env: io.env,
    taskQueue: await servedQueue(cli),
    shutdownGraceMs: SHUTDOWN_GRACE_MS,
    server: { onProgress: (line) => cli.output.note(line) },
    ...defined({ workflowsPath: workflowsFile(options.workflows, io.cwd) }),
  });
  return { everloop, isServed: true };
}

/** A client of the running server. Without one, an agent file would have been enough. */
async function openWithoutFile(cli: Cli): Promise<ConnectedEverloop> {
  try {
    return await openClient(cli);
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'no_server') throw error;
    throw new UsageError(
      'no_server',
      `${error.message}\nOr write \`agents.ts\`, a module that exports your agents: this command then serves it by itself. \`--agents FILE\` names another file.`,
    );
  }
}
