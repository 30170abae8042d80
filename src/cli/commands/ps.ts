import type { Command } from 'commander';
import type { RunSummary } from '../../client/everloop-client.ts';
import { readCount } from '../terminal/arguments.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { durationText, oneLine, tableText } from '../terminal/text.ts';

/** Characters of a task; a line should fit on a terminal. */
const TASK_WIDTH = 50;

/** Adds `ps`: lists runs. */
export function addPsCommand(program: Command, act: CommandRunner): void {
  program
    .command('ps')
    .summary('list runs')
    .description('Lists runs, newest first.')
    .option('--running', 'only live runs')
    .option('--limit <number>', 'maximum number of runs', '100')
    .action((options: { readonly running?: boolean; readonly limit: string }) => {
      const limit = readCount('--limit', options.limit, 1);
      const running = options.running === true;
      return showResult(
        act,
        (everloop) => everloop.list({ running, limit }),
        (runs) => runsText(runs, Date.now()),
      );
    });
}

/** The list as a table; ages are relative to `nowMs`. */
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
