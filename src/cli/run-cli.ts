/** The command line as a function of its arguments and its process. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../core/base/version.ts';
import type { CommandRunner, AddCommand } from './terminal/cli.ts';
import { addChatCommand } from './commands/chat.ts';
import { addCodecCommand } from './operations/codec.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addDeployCommand } from './operations/deploy.ts';
import { addDoctorCommand } from './operations/doctor.ts';
import { addInitCommand } from './commands/init.ts';
import { KEY_COMMANDS } from './operations/keys.ts';
import { addLispCommand } from './commands/lisp.ts';
import { addAttemptsCommand, addLogsCommand, addStreamTokenCommand } from './commands/logs.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { PEOPLE_COMMANDS } from './commands/people.ts';
import { addPreviewCommand } from './commands/preview.ts';
import { addProgramCommand } from './commands/program.ts';
import { addPsCommand } from './commands/ps.ts';
import { addReplayCommand } from './operations/replay.ts';
import { addRunCommand } from './commands/run.ts';
import { addDevCommand, addWorkerCommand } from './operations/serve.ts';
import { RETENTION_COMMANDS } from './operations/retention.ts';
import { addSetupCommand } from './operations/setup.ts';
import { addShowCommand } from './commands/show.ts';
import { addStatsCommand } from './commands/stats.ts';
import { STEER_COMMANDS } from './commands/steer.ts';
import { addTraceCommand } from './commands/trace.ts';
import { addBudgetCommand, addTreeCommand } from './commands/tree.ts';
import { EXIT_CODES, exitCodeOf } from './terminal/exit-codes.ts';
import type { CliIo } from './terminal/io.ts';
import { createOutput, errorReport } from './terminal/output.ts';

const EXIT_CODE_HELP = `
Exit codes: 0 success · 1 the run ended with an error, at a limit or canceled · 2 usage
            3 no server or no worker · 4 unexpected · 130 interrupted

Environment: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other TEMPORAL_ variables,
             EVERLOOP_TASK_QUEUE, EVERLOOP_DATA_DIR and the others in docs/cli.md.`;

/** Runs one command line and returns its exit code; never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const program = createProgram(io);
  let exitCode: number = EXIT_CODES.success;
  const act: CommandRunner = async (body) => {
    const { json = false } = program.opts<GlobalOptions>();
    exitCode = await body({ io, output: createOutput(io, json) });
  };
  for (const add of COMMANDS) add(program, act);
  // Commander passes settings on only to commands that are added later, so copy them.
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, program, io);
  }
}

interface GlobalOptions {
  readonly json?: boolean;
  readonly debug?: boolean;
}

/** In the order of the help. */
const COMMANDS: readonly AddCommand[] = [
  addInitCommand,
  addDevCommand,
  addWorkerCommand,
  addRunCommand,
  addChatCommand,
  addPreviewCommand,
  addPsCommand,
  addShowCommand,
  addStatsCommand,
  addTraceCommand,
  addLogsCommand,
  addAttemptsCommand,
  addStreamTokenCommand,
  addTreeCommand,
  addBudgetCommand,
  addProgramCommand,
  ...PEOPLE_COMMANDS,
  ...STEER_COMMANDS,
  addDeployCommand,
  addMcpCommand,
  addReplayCommand,
  addDoctorCommand,
  addSetupCommand,
  ...RETENTION_COMMANDS,
  ...KEY_COMMANDS,
  addCodecCommand,
  addLispCommand,
  addDemoCommand,
];

function createProgram(io: CliIo): Command {
  return new Command('everloop')
    .description('Durable LLM agents on Temporal.')
    .version(VERSION, '--version', 'show the version')
    .option('--json', 'one JSON document on stdout, and nothing else there')
    .option('--debug', 'show the stacks of errors')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .showHelpAfterError('Run `everloop help` or `everloop help COMMAND` to see what there is.')
    .addHelpText('after', EXIT_CODE_HELP)
    .exitOverride();
}

function report(error: unknown, program: Command, io: CliIo): number {
  if (error instanceof CommanderError) {
    // Commander has already printed its message. For help, its exit code is 0.
    return error.exitCode === 0 ? EXIT_CODES.success : EXIT_CODES.usage;
  }
  const { debug = false, json = false } = program.opts<GlobalOptions>();
  const output = createOutput(io, json);
  output.note(output.paintNote('red', errorReport(error, debug)));
  return exitCodeOf(error);
}
