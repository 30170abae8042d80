/**
 * The commands that serve an agent file: `dev` with a server on this machine, `worker` in a fleet.
 */
import { defined } from '../../core/base/defined.ts';
import type { Command } from 'commander';
import {
  DEFAULT_UI_PORT,
  EMBEDDED_SERVER_DEFAULTS,
  type EmbeddedServerOptions,
} from '../../worker/server/server-options.ts';
import type { LogLevel } from '../../worker/config/config.ts';
import type { WorkerReady } from '../../worker/serve/run-worker.ts';
import { stopOnSignal } from '../../worker/serve/shutdown.ts';
import { readPort } from '../terminal/arguments.ts';
import {
  configFor,
  folderConfig,
  servedQueue,
  type CommandRunner,
  type Cli,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import type { OpenConsole } from '../../console/serve/open-console.ts';
import { errorText } from '../../core/base/error-text.ts';
import { loadAgents, workflowsFile, type AgentFile } from '../commands/load-agents.ts';
import { durationText, fieldsText } from '../terminal/text.ts';

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
  /** False for `--no-console`. */
  readonly console: boolean;
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
    .option('--no-console', 'start without the console, the web page for agents')
    .option('--log-events', 'print one line of JSON for each event on stdout')
    .option('--allow-unencrypted', 'start without keys where the newest runs are encrypted')
    .action((options: DevOptions) =>
      // One worker serves everything here, so runs wait for no other, and there are no versions.
      act(async (cli) => {
        const { elsewhereMs = 0 } = await configFor(cli);
        const taskQueue = await servedQueue(cli);
        const server = await serverOptions(options);
        const { openOwnCodec } = await import('./codec.ts');
        const codec = await openOwnCodec(cli, server.uiPort);
        try {
          const { console: hasConsole } = options;
          // What is printed is for the person who started it, unless they ask for more.
          const logLevel = cli.io.env['EVERLOOP_LOG_LEVEL'] ? undefined : ('WARN' as const);
          return await serveFile(cli, options, {
            server,
            elsewhereMs,
            taskQueue,
            deployment: null,
            hasConsole,
            ...defined({ logLevel, codecUrl: codec?.url }),
          });
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
        return serveFile(cli, options, { server: {}, taskQueue, hasConsole: false });
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
  const { findFreePort, isPortTaken } = await import('../../worker/server/server-probe.ts');
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
  /** Whether the console is opened too. */
  readonly hasConsole: boolean;
  /** Default: that of the environment, else INFO. */
  readonly logLevel?: LogLevel;
}

async function serveFile(
  cli: Cli,
  options: ServeOptions,
  { server, taskQueue, elsewhereMs, deployment, codecUrl, hasConsole, logLevel }: ServedAs,
): Promise<number> {
  const { io, output } = cli;
  const file = await loadAgents(options.agents, io.cwd);
  let announced: Promise<OpenConsole | undefined> | undefined;
  const announce = async (ready: WorkerReady): Promise<OpenConsole | undefined> => {
    const console = hasConsole ? await consoleOf(cli, file, ready) : undefined;
    const places = defined({ codecUrl, console: console?.address });
    output.note(readyText(file, ready, places));
    if (options.logEvents !== true) output.json(readyValue(file, ready, places));
    return console;
  };
  let release = (): void => undefined;
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
      logLevel,
      protection: options.allowUnencrypted === true ? { allowUnencrypted: true } : undefined,
      workflowsPath: workflowsFile(options.workflows, io.cwd),
    }),
    logEvents: options.logEvents === true && ((line) => void io.stdout.write(`${line}\n`)),
    onReady: (ready) => {
      const grace = durationText(ready.config.shutdownGraceMs);
      const stopping = `Stopping. Calls in flight have ${grace} to end. Ctrl-C again ends at once.`;
      release = stopOnSignal({ source: io.signals, stop: () => output.note(stopping) });
      announced = announce(ready);
    },
  });
  await (await announced)?.close();
  release();
  return EXIT_CODES.success;
}

/** The console beside a worker. Without one the worker serves all the same, and says why. */
async function consoleOf(
  cli: Cli,
  file: AgentFile,
  { server, config }: WorkerReady,
): Promise<OpenConsole | undefined> {
  const { address, namespace, uiUrl } = server;
  const { taskQueue, dataDir } = config;
  try {
    const place = { address, namespace, taskQueue, dataDir, temporalUi: uiUrl };
    const { openOwnConsole } = await import('./console.ts');
    return await openOwnConsole(cli, { file, ...place });
  } catch (error) {
    cli.output.note(`No console: ${errorText(error)}`);
    return undefined;
  }
}

/** What else is served: the codec server, and the console as people open it. */
interface Places {
  readonly codecUrl?: string;
  readonly console?: string;
}

function readyValue(
  file: AgentFile,
  { server, config, version }: WorkerReady,
  { codecUrl, console }: Places,
): object {
  const { address, namespace, uiUrl } = server;
  return {
    address,
    namespace,
    ...defined({ uiUrl, codecUrl, console }),
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
  { codecUrl, console }: Places,
): string {
  const names = file.agents.map(({ name }) => name);
  const startedBy = server.startedHere ? 'started here' : 'already running';
  return [
    fieldsText([
      ...(console === undefined ? [] : [['console', console] as const]),
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
    `Ready. Try: npx everloop run ${names[0] ?? 'AGENT'} "…" · Ctrl-C stops.`,
  ].join('\n');
}
