/** The command `console`: the web UI for agents; `dev` opens one too. */
import type { Command } from 'commander';
import { openConsole, CONSOLE_PORT, type OpenConsole } from '../../console/serve/open-console.ts';
import { defined } from '../../core/base/defined.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { hasAgentFile, loadAgents, type AgentFile } from '../commands/load-agents.ts';
import { readListen } from '../terminal/arguments.ts';
import {
  folderConfig,
  openClient,
  print,
  untilInterrupted,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { fieldsText, terminalText } from '../terminal/text.ts';

interface ConsoleCommandOptions {
  readonly listen?: string;
  readonly agents?: string;
}

/** Adds `console`. */
export function addConsoleCommand(program: Command, act: CommandRunner): void {
  program
    .command('console')
    .summary('open a web page that shows and steers all runs')
    .description(
      'Serves the console beside the running server until Ctrl-C, and prints its address, which holds ' +
        'the key, unless EVERLOOP_CONSOLE_TOKEN names it. Off this machine it needs that, and a proxy ' +
        'with TLS in front of it.',
    )
    .option('--listen <address>', `HOST:PORT; port 0: any (default: 127.0.0.1:${CONSOLE_PORT})`)
    .option(
      '--agents <file>',
      'agent file whose agents it shows (default: agents.ts, if there is one)',
    )
    .action((options: ConsoleCommandOptions) => act((cli) => serveConsole(cli, options)));
}

async function serveConsole(cli: Cli, { listen, agents }: ConsoleCommandOptions): Promise<number> {
  const { io, output } = cli;
  const { host, port } = listen === undefined ? {} : readListen('--listen', listen);
  const file = hasAgentFile(agents, io.cwd) ? await loadAgents(agents, io.cwd) : undefined;
  const { taskQueue, dataDir } = await folderConfig(cli);
  const everloop = await openClient(cli);
  try {
    const { address: server, namespace } = everloop;
    const opened = await openConsole({
      everloop,
      dataDir,
      env: io.env,
      place: { address: server, namespace, taskQueue },
      log: (line) => output.note(terminalText(JSON.stringify(line))),
      ...agentsOf(file),
      ...defined({ host, port }),
    });
    try {
      return await untilInterrupted(
        cli,
        () => {
          const isHere = host === undefined || isLoopback(host);
          const note = isHere ? '' : ' (plain HTTP: put a proxy with TLS in front of it)';
          const text = [
            fieldsText([
              ['console', `${opened.address}${note}`],
              ['server', `${server}, namespace ${namespace}`],
            ]),
            '',
            `Ready. ${opened.address === opened.url ? OPEN_WITH_TOKEN : OPEN} · Ctrl-C stops.`,
          ].join('\n');
          print(cli, text, { url: opened.url, address: opened.address, server, namespace });
          return new Promise<number>(() => undefined);
        },
        () => EXIT_CODES.success,
      );
    } finally {
      await opened.close();
    }
  } finally {
    await everloop.close();
  }
}

const OPEN = 'Open the address: who has it can read and steer all runs';
const OPEN_WITH_TOKEN = 'Open the address and enter the token, EVERLOOP_CONSOLE_TOKEN';

/** What {@link openOwnConsole} takes: where the worker of `dev` serves which file. */
export interface OwnConsole {
  readonly file: AgentFile;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataDir: string;
  readonly temporalUi: string | undefined;
}

/** The console of `everloop dev`, with a client of its own that it closes. */
export async function openOwnConsole(
  { io, output }: Cli,
  { file, address, namespace, taskQueue, dataDir, temporalUi }: OwnConsole,
): Promise<OpenConsole> {
  const everloop = await io.connect({ env: io.env, address, namespace, taskQueue, dataDir });
  try {
    const opened = await openConsole({
      everloop,
      dataDir,
      env: io.env,
      place: { address, namespace, taskQueue, temporalUi: temporalUi ?? null },
      log: (line) => output.note(terminalText(JSON.stringify(line))),
      ...agentsOf(file),
    });
    return {
      ...opened,
      close: async () => {
        await opened.close();
        await everloop.close();
      },
    };
  } catch (error) {
    await everloop.close();
    throw error;
  }
}

function agentsOf(file: AgentFile | undefined): {
  readonly agents?: Pick<AgentFile, 'agents' | 'models'>;
} {
  return file === undefined ? {} : { agents: file };
}
