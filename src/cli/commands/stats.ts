import type { Command } from 'commander';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { stepOrNull } from './show.ts';
import { statsText } from '../views/run-text.ts';

/** Adds `stats ID`: all statistics of a run. */
export function addStatsCommand(program: Command, act: CommandRunner): void {
  program
    .command('stats')
    .summary('show all statistics of a run')
    .description('Shows all statistics of a run.')
    .argument('<id>', 'id of the run')
    .option('--self', 'also show each counter without the runs below')
    .action((id: string, options: { readonly self?: boolean }) =>
      showResult(
        act,
        async (everloop) => {
          const run = everloop.attach(id);
          const step = await stepOrNull(run);
          return step?.stats ?? run.stats();
        },
        (stats) => statsText(stats, options.self === true),
      ),
    );
}
