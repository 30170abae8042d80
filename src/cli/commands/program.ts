import type { Command } from 'commander';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import type { ProgramView } from '../../core/contract/report.ts';
import { onRun, print, untilInterrupted, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { poll } from '../views/follow.ts';
import { programsText, programText } from '../views/program-text.ts';

/** Adds `program ID`: the program of a run, form by form. */
export function addProgramCommand(program: Command, act: CommandRunner): void {
  program
    .command('program')
    .summary('show the program of a run, form by form')
    .description(
      'Shows the current program of a run, or its last one: each form with its state and value, and ' +
        'the open calls, questions and timers. With --list, lists all programs of the run, and with ' +
        '--program shows one of them. With --follow, shows it again at each change; with --json and ' +
        '--follow, as one document per line.',
    )
    .argument('<id>', 'id of the run')
    .option('--program <id>', 'id of a program, such as 3.p (default: the newest)')
    .option('--list', 'list the programs of the run')
    .option('-f, --follow', 'follow the run until it ends')
    .action((id: string, { program: programId, list, follow }: ProgramFlags) =>
      onRun(act, id, async (cli, run) => {
        if (follow === true) return followProgram(cli, run);
        if (list === true) {
          const programs = await run.programs();
          return print(cli, programsText(programs), programs);
        }
        const view = await run.program(defined({ id: programId }));
        return print(cli, viewText(id, view, programId), view);
      }),
    );
}

interface ProgramFlags {
  readonly program?: string;
  readonly list?: true;
  readonly follow?: true;
}

function viewText(id: string, view: ProgramView | null, programId?: string): string {
  if (view !== null) return programText(view);
  return `Run ${id} has not run ${programId === undefined ? 'a program' : `program ${programId}`}.`;
}

function followProgram(cli: Cli, run: RunHandle): Promise<number> {
  return untilInterrupted(cli, async (signal) => {
    let shown = '';
    await poll(signal, async () => {
      const { state } = await run.status();
      const view = await run.program();
      const text = cli.output.isJson ? JSON.stringify(view) : viewText(run.id, view);
      if (text !== shown) write(cli, text, shown === '');
      shown = text;
      // The status was read before the program, so the program of an ended run is final.
      return state === 'ended';
    });
    return EXIT_CODES.success;
  });
}

function write({ io, output }: Cli, text: string, isFirst: boolean): void {
  if (output.isJson) io.stdout.write(`${text}\n`);
  else output.text(isFirst ? text : `\n${text}`);
}
