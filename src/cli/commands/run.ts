import type { Command } from 'commander';
import type { Everloop, StartOptions } from '../../client/everloop-client.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { collect } from '../terminal/arguments.ts';
import { print, untilInterrupted, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { readFiles, type FileFlags } from '../terminal/files.ts';
import { EXIT_CODES, exitCodeOfStep } from '../terminal/exit-codes.ts';
import { follow } from '../views/follow.ts';
import {
  ON_EVENT_HELP,
  openServed,
  startFrom,
  type StartFlags,
  SERVED_CLOSE_MS,
} from './open-served.ts';
import { endText } from '../views/run-text.ts';
import { terminalText, valueText } from '../terminal/text.ts';

interface RunOptions extends StartFlags, FileFlags {
  readonly attach?: boolean;
  readonly detach?: boolean;
  readonly tenant?: string;
}

/** Adds `run AGENT TASK`: starts a run and waits for its end. */
export function addRunCommand(program: Command, act: CommandRunner): void {
  program
    .command('run')
    .summary('start an agent and wait for its answer')
    .description(
      'Starts an agent and waits for its answer, which goes to stdout. On a server on this machine, ' +
        'this process serves the agent file while it waits. A terminal shows provisional text. ' +
        'Ctrl-C stops waiting, not the run.',
    )
    .argument('<agent>', 'name of the agent')
    .argument('[task]', 'the task; an agent with its own template may need none')
    .option('--agents <file>', 'agent file to serve (default: agents.ts, if it exists)')
    .option('--workflows <file>', 'the file of your own loops, formats, … to serve')
    .option('--attach', 'follow the run that already has the --id, if there is one')
    .option('--context <json>', "named data as a JSON object, or @ and a file's path")
    .option('--detach', 'print the id and do not wait')
    .option('--file <path>', 'a file for the model, of any type; repeatable', collect, [])
    .option('--id <id>', "id of the run (default: the agent's name and a random part)")
    .option('--image <path>', 'a picture for the model; repeatable', collect, [])
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .option('--model <id>', "model entry that replaces the agent's own")
    .option('--on-event <url>', ON_EVENT_HELP, collect, [])
    .option('--serve', 'serve the agent file even if TEMPORAL_ADDRESS is set')
    .option(
      '--settings <json>',
      'settings of model calls as a JSON object: temperature, reasoning, …',
    )
    .option('--tenant <name>', 'the tenant of the run, with which its id begins')
    .option('--no-serve', 'leave the work to other workers')
    .action((agent: string, task: string | undefined, options: RunOptions) =>
      act((cli) => run(cli, agent, task, options)),
    );
}

async function run(
  cli: Cli,
  agent: string,
  task: string | undefined,
  options: RunOptions,
): Promise<number> {
  const start = await startOptions(cli, task, options);
  const { everloop, isServed } = await openServed(cli, agent, {
    ...options,
    mayServe: options.detach !== true,
  });
  try {
    const handle = await startOrExplain(everloop, agent, start);
    if (options.detach === true) return print(cli, handle.id, { id: handle.id, agent });
    cli.output.note(cli.output.paintNote('dim', `run ${handle.id}`));
    return await untilInterrupted(
      cli,
      (signal) => waitFor(cli, handle, signal),
      () => interrupted(cli, handle, isServed),
      isServed ? SERVED_CLOSE_MS : undefined,
    );
  } finally {
    await everloop.close();
  }
}

/** Starts a run. An error about an id in use mentions `--attach`. */
async function startOrExplain(
  everloop: Everloop,
  agent: string,
  options: StartOptions,
): Promise<RunHandle> {
  try {
    return await everloop.start(agent, options);
  } catch (error) {
    // With `--attach`, the id belongs to another agent's run, which cannot be followed.
    const isTaken = isUsageError(error) && error.code === 'id_in_use';
    if (!isTaken || options.ifExists === 'attach') throw error;
    throw new UsageError(
      'id_in_use',
      `Expected a free run id, got \`${options.id}\`, which another run has. Choose another id, or ` +
        'follow that run with `--attach`.',
    );
  }
}

async function startOptions(
  cli: Cli,
  text: string | undefined,
  options: RunOptions,
): Promise<StartOptions> {
  if (options.attach === true && options.id === undefined) {
    throw new UsageError(
      'argument',
      'Expected `--attach` with the `--id` to attach to, got no id. Name the run.',
    );
  }
  const media = await readFiles(options, cli.io.cwd);
  if (text?.trim() === '' && media === undefined) {
    throw new UsageError(
      'invalid_input',
      'Expected a task with text, got an empty one. Say what to do.',
    );
  }
  const ifExists = options.attach === true ? 'attach' : 'fail';
  const { id, tenant } = options;
  const task = media === undefined ? text : { text: text ?? '', media };
  return { ...(await startFrom(cli, options)), ifExists, ...defined({ task, id, tenant }) };
}

/** Waits for the end of a run, and shows it; returns the exit code of its Step. */
export async function waitFor(
  { output }: Cli,
  handle: RunHandle,
  signal: AbortSignal,
): Promise<number> {
  const step = await follow(handle, output, { streams: output.isLive, signal });
  const isGood = step.status === 'success';
  output.note(output.paintNote(isGood ? 'green' : 'red', endText(step)));
  if (!isGood && step.message !== undefined) output.note(terminalText(step.message));
  if (isGood) output.text(output.safe(valueText(step.value)));
  output.json(step);
  return exitCodeOfStep(step);
}

function interrupted({ output }: Cli, { id }: RunHandle, isServed: boolean): number {
  const goesOn = isServed
    ? `Run ${id} waits until a worker serves its agent: \`everloop worker\`.`
    : `Run ${id} goes on: \`everloop show ${id}\`.`;
  output.note(`\n${goesOn} To end it: \`everloop cancel ${id}\`.`);
  return EXIT_CODES.interrupted;
}
