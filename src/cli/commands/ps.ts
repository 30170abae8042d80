import type { Command } from 'commander';
import type { RunSummary } from '../../client/everloop-client.ts';
import { readCount } from '../terminal/arguments.ts';
import { withClient, type Act } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { durationText, oneLine, tableText } from '../terminal/text.ts';

/** Characters of a task in the list: a line should fit a terminal. */
const TASK_WIDTH = 50;

/** Adds `ps`: lists runs. */
export function addPsCommand(program: Command, act: Act): void {
  program
    .command('ps')
    .summary('list runs')
    .description('Lists runs, newest first.')
    .option('--running', 'only those that are alive')
    .option('--limit <number>', 'at most so many', '100')
    .action((options: { readonly running?: boolean; readonly limit: string }) =>
      act(async (cli) => {
        const limit = readCount('--limit', options.limit, 1);
        const running = options.running === true;
        const runs = await withClient(cli, (everloop) => everloop.list({ running, limit }));
        cli.output.text(runsText(runs, Date.now()));
        cli.output.json(runs);
        return EXIT_CODES.success;
      }),
    );
}

/** The list as a table; `nowMs` is what ages are counted from. */
function runsText(runs: readonly RunSummary[], nowMs: number): string {
  if (runs.length === 0) return 'No runs.';
  return tableText(
    ['ID', 'AGENT', 'STATUS', 'AGE', 'TASK'],
    runs.map(({ id, agent, status, startedAt, task }) => [
      id,
      agent,
      status.toLowerCase(),
      durationText(Math.max(0, nowMs - startedAt.getTime())),
      oneLine(task, TASK_WIDTH),
    ]),
  );
}
