/**
 * The commands that serve an agent file: `dev` with a server on this machine, `worker` in a fleet.
 */
import { defined } from '../../core/base/defined.ts';
import type { Command } from 'commander';
import { findFreePort, isPortTaken } from '../../worker/server/server-probe.ts';
import {
  EMBEDDED_SERVER_DEFAULTS,
  type EmbeddedServerOptions,
} from '../../worker/server/embedded-server.ts';
import type { WorkerReady } from '../../worker/serve/run-worker.ts';
import { readPort } from '../terminal/arguments.ts';
import {
  configFor,
  folderConfig,
  servedQueue,
  type CommandRunner,
  type Cli,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { DEFAULT_UI_PORT, openOwnCodec } from './codec.ts';
import { loadAgents, workflowsFile, type AgentFile } from '../commands/load-agents.ts';
import { fieldsText } from '../terminal/text.ts';

interface ServeOptions {
  readonly agents?: string;
  readonly workflows?: string;
  readonly logEvents?: boolean;
  readonly allowUnencrypted?: boolean;
}

interface DevOptions extends ServeOptions {
  readonly port?: string;
  readonly ui?: true;
  readonly uiPort?: string;
}

/** Adds `dev`: a server and a worker for the agent file. */
export function addDevCommand(program: Command, act: CommandRunner): void {
  program
    .command('dev')
    .summary('start a server and serve the agent file')
    .description(
      'Starts a Temporal server, or uses the running one, and serves the agent file on a task queue ' +
        'of this folder until Ctrl-C. Restart it after you change the file; runs continue where they were.',
    )
    .option('--agents <file>', 'agent file (default: agents.ts)')
    .option('--workflows <file>', 'the file of your own loops, formats, …')
    .option('--port <port>', 'port of the server, or free for any (default: 7233)')
    .option('--ui', "start Temporal's web UI too; any web page in a browser here can use it")
    .option('--ui-port <port>', 'start the web UI at this port, or free for any (default: 8233)')
    .option('--log-events', 'print one line of JSON for each event on stdout')
    .option('--allow-unencrypted', 'start without keys where the newest runs are encrypted')
    .action((options: DevOptions) =>
      // One worker serves everything here, so runs wait for no other, and there are no versions.
      act(async (cli) => {
        const { elsewhereMs = 0 } = configFor(cli);
        const taskQueue = await servedQueue(cli);
        const server = await serverOptions(options);
        const codec = await openOwnCodec(cli, server.uiPort);
        try {
          const served = { server, elsewhereMs, taskQueue, deployment: null, codecUrl: codec?.url };
          return await serveFile(cli, options, defined(served));
        } finally {
          await codec?.close();
        }
      }),
    );
}

/** Adds `worker`: serves the agent file on the server that the environment names. */
export function addWorkerCommand(program: Command, act: CommandRunner): void {
  program
    .command('worker')
    .summary('serve the agent file')
    .description(
      'Serves the agent file until SIGTERM or Ctrl-C. Uses the server that TEMPORAL_ADDRESS names. ' +
        'Without that variable, uses the server on this machine, and starts one if needed.',
    )
    .option('--agents <file>', 'agent file (default: agents.ts)')
    .option('--workflows <file>', 'the file of your own loops, formats, …')
    .option('--log-events', 'print one line of JSON for each event on stdout')
    .option('--allow-unencrypted', 'start without keys where the newest runs are encrypted')
    .action((options: ServeOptions) =>
      act(async (cli) => {
        const { taskQueue } = await folderConfig(cli);
        return serveFile(cli, options, { server: {}, taskQueue });
      }),
    );
}

async function serverOptions(
  options: DevOptions,
): Promise<EmbeddedServerOptions & { readonly uiPort?: number }> {
  const port = options.port === undefined ? undefined : readPort('--port', options.port);
  return defined({ port, uiPort: await uiPortOf(options) });
}

/** None unless it is asked for: the UI takes any Host header, so a web page could use it. */
async function uiPortOf({ ui, uiPort }: DevOptions): Promise<number | undefined> {
  if (uiPort === undefined && ui !== true) return undefined;
  const { host } = EMBEDDED_SERVER_DEFAULTS;
  const port = uiPort === undefined ? DEFAULT_UI_PORT : readPort('--ui-port', uiPort);
  // The usual port may be in use; one that was asked for is an error then.
  const isFree = port === 'free' || (uiPort === undefined && (await isPortTaken(host, port)));
  return isFree ? findFreePort(host) : port;
}

/** Where an agent file is served, and as part of which version. */
interface ServedAs {
  readonly server: EmbeddedServerOptions;
  readonly taskQueue: string;
  /** How long runs wait for a worker that has what this one lacks; default: that of the environment. */
  readonly elsewhereMs?: number;
  /** `null`: as part of none. Default: that of the environment. */
  readonly deployment?: null;
  /** Address of the codec server; absent: there is none. */
  readonly codecUrl?: string;
}

async function serveFile(
  cli: Cli,
  options: ServeOptions,
  { server, taskQueue, elsewhereMs, deployment, codecUrl }: ServedAs,
): Promise<number> {
  const { io, output } = cli;
  const file = await loadAgents(options.agents, io.cwd);
  await io.runWorker({
    agents: file.agents,
    models: file.models,
    agentsModule: file.url,
    env: io.env,
    signals: io.signals,
    taskQueue,
    server: {
      ...server,
      ...defined({ uiCodecEndpoint: codecUrl }),
      keeps: true,
      onProgress: (line) => output.note(line),
    },
    ...defined({
      elsewhereMs,
      deployment,
      protection: options.allowUnencrypted === true ? { allowUnencrypted: true } : undefined,
      workflowsPath: workflowsFile(options.workflows, io.cwd),
    }),
    logEvents: options.logEvents === true && ((line) => void io.stdout.write(`${line}\n`)),
    onReady: (ready) => {
      output.note(readyText(file, ready, codecUrl));
      if (options.logEvents !== true) output.json(readyValue(file, ready, codecUrl));
    },
  });
  return EXIT_CODES.success;
}

function readyValue(
  file: AgentFile,
  { server, config, version }: WorkerReady,
  codecUrl: string | undefined,
): object {
  const { address, namespace, uiUrl } = server;
  return {
    address,
    namespace,
    ...defined({ uiUrl, codecUrl }),
    taskQueue: config.taskQueue,
    agents: file.agents.map(({ name }) => name),
    ...defined({ version }),
  };
}

/** `v2 of deployment everloop, which gets no new runs yet` */
function versionText({ name, build, newRuns }: NonNullable<WorkerReady['version']>): string {
  const waits = newRuns === 'none' ? ', which gets no new runs yet' : '';
  return `${build} of deployment ${name}${waits}`;
}

const UI_WARNING = 'any web page in a browser here can read and start runs through it';

const CODEC_WARNING = 'any program on this machine can decrypt through it';

/** The text for a ready worker: what it serves, and where. */
function readyText(
  file: AgentFile,
  { server, config, version }: WorkerReady,
  codecUrl: string | undefined,
): string {
  const names = file.agents.map(({ name }) => name);
  const startedBy = server.startedHere ? 'started here' : 'already running';
  return [
    fieldsText([
      ['server', `${server.address}, namespace ${server.namespace} (${startedBy})`],
      ...(server.uiUrl === undefined
        ? []
        : [['web UI', `${server.uiUrl} (${UI_WARNING})`] as const]),
      ...(codecUrl === undefined
        ? []
        : [['codec server', `${codecUrl} (${CODEC_WARNING})`] as const]),
      ['task queue', config.taskQueue],
      ...(version === undefined ? [] : [['version', versionText(version)] as const]),
      ['agents', `${names.join(', ')} (${file.path})`],
    ]),
    '',
    `Ready. Try: everloop run ${names[0] ?? 'AGENT'} "…" · Ctrl-C stops.`,
  ].join('\n');
}
