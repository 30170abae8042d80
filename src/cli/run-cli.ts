/** The command line as a function of its arguments and its process. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../core/base/version.ts';
import { commandsOf, meantCommand } from './command-table.ts';
import type { CommandRunner } from './terminal/cli.ts';
import { EXIT_CODES, exitCodeOf } from './terminal/exit-codes.ts';
import type { CliIo } from './terminal/io.ts';
import { createOutput, errorReport } from './terminal/output.ts';
import { terminalText } from './terminal/text.ts';

const EXIT_CODE_HELP = `
Exit codes: 0 success · 1 the run ended with an error, at a limit or canceled · 2 usage
            3 no server or no worker · 4 unexpected · 130 interrupted

Environment: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other TEMPORAL_ variables,
             EVERLOOP_TASK_QUEUE, EVERLOOP_DATA_DIR and the others in docs/cli.md.`;

const SEE_HELP = 'Run `everloop help` or `everloop help COMMAND` to see what there is.';

/** Runs one command line and returns its exit code; never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const program = createProgram(io);
  const meant = meantCommand(argv);
  if (meant !== undefined) {
    program.showSuggestionAfterError(false);
    program.showHelpAfterError(`Did you mean \`everloop ${meant}\`? ${SEE_HELP}`);
  }
  let exitCode: number = EXIT_CODES.success;
  const act: CommandRunner = async (body) => {
    const { json = false } = program.opts<GlobalOptions>();
    exitCode = await body({ io, output: createOutput(io, json) });
  };
  try {
    for (const add of await commandsOf(argv)) add(program, act);
    // Commander passes settings on only to commands that are added later, so copy them.
    for (const command of program.commands) command.copyInheritedSettings(program);
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
    .showHelpAfterError(SEE_HELP)
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
  output.note(output.paintNote('red', terminalText(errorReport(error, debug))));
  return exitCodeOf(error);
}
