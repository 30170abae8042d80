import type { Command } from 'commander';
import type { RunHandle } from '../../client/run-handle.ts';
import type { ProgramView } from '../../core/contract/report.ts';
import { onRun, print, untilInterrupted, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { poll } from '../views/follow.ts';
import { programText } from '../views/program-text.ts';

/** Adds `program ID`: the program of a run, form by form. */
export function addProgramCommand(program: Command, act: CommandRunner): void {
  program
    .command('program')
    .summary('show the program of a run, form by form')
    .description(
      'Shows the current program of a run, or its last one: each form with its state and value, and ' +
        'the open calls, questions and timers. With --follow, shows it again at each change; with ' +
        '--json and --follow, as one document per line.',
    )
    .argument('<id>', 'id of the run')
    .option('-f, --follow', 'follow the run until it ends')
    .action((id: string, { follow = false }: { readonly follow?: boolean }) =>
      onRun(act, id, async (cli, run) => {
        if (follow) return followProgram(cli, run);
        const view = await run.program();
        return print(cli, viewText(id, view), view);
      }),
    );
}

function viewText(id: string, view: ProgramView | null): string {
  return view === null ? `Run ${id} has not run a program.` : programText(view);
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
