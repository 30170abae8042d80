import type { Command } from 'commander';
import { withClient, type Act } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { statsText } from '../views/run-text.ts';

/** Adds `stats ID`: all statistics of a run. */
export function addStatsCommand(program: Command, act: Act): void {
  program
    .command('stats')
    .summary('show all statistics of a run')
    .description('Shows all statistics of a run.')
    .argument('<id>', 'id of the run')
    .option('--self', "also each counter's twin with the run's own share")
    .action((id: string, options: { readonly self?: boolean }) =>
      act(async (cli) => {
        const stats = await withClient(cli, async (everloop) => {
          const run = everloop.attach(id);
          const step = await run.step();
          return step?.stats ?? run.stats();
        });
        cli.output.text(statsText(stats, options.self === true));
        cli.output.json(stats);
        return EXIT_CODES.success;
      }),
    );
}
