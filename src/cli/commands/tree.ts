/** The commands that show a tree of runs: tree, budget. */
import type { Command } from 'commander';
import type { RunHandle } from '../../client/run-handle.ts';
import type { TreeRun } from '../../client/tree-run.ts';
import { onRun, print, untilInterrupted, type CommandRunner, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { poll } from '../views/follow.ts';
import { cutLine } from '../terminal/text.ts';
import { budgetText, treeText } from '../views/tree-text.ts';

/** Adds `tree RUN`: the run and all runs below it. */
export function addTreeCommand(program: Command, act: CommandRunner): void {
  program
    .command('tree')
    .summary('show a run and all runs below it')
    .description(
      'Shows a run and all runs below it: the status of each, what it waits for, and its usage ' +
        'including all runs below. A run is silent if no worker answers for it. With --json, ' +
        'prints one list of runs; with --json and --follow, one list per line at each change.',
    )
    .argument('<run>', 'id of the run; the id of a child shows the tree from there down')
    .option('-f, --follow', 'follow the run until it ends; on a terminal, in place')
    .action((id: string, { follow = false }: { readonly follow?: boolean }) =>
      onRun(act, id, async (cli, run) => {
        if (follow) return followTree(cli, run);
        const runs = await run.tree();
        return print(cli, treeText(runs), runs);
      }),
    );
}

/** Adds `budget RUN`: the limits over a tree, and how they are shared. */
export function addBudgetCommand(program: Command, act: CommandRunner): void {
  program
    .command('budget')
    .summary('show how much of the limits over a tree is used, reserved and free')
    .description(
      'Shows the limits over a run and all runs below it. For each run: the maximum, and how much of ' +
        'it is used, reserved for runs and calls in flight, and free.',
    )
    .argument('<run>', 'id of the run; the id of a child shows its part')
    .action((id: string) =>
      onRun(act, id, async (cli, run) => {
        const runs = await run.tree();
        return print(cli, budgetText(runs), budgetsOf(runs));
      }),
    );
}

/** The document of `--json`: the runs that have budgets. */
function budgetsOf(runs: readonly TreeRun[]): readonly object[] {
  return runs
    .filter(({ budgets }) => budgets.length > 0)
    .map(({ id, agent, path, budgets }) => ({ id, agent, path, budgets }));
}

function followTree(cli: Cli, run: RunHandle): Promise<number> {
  return untilInterrupted(cli, async (signal) => {
    const show = createTreePrinter(cli);
    await poll(signal, async () => {
      const runs = await run.tree();
      if (!signal.aborted) show(runs);
      return runs[0]?.state === 'ended';
    });
    return EXIT_CODES.success;
  });
}

/** Shows a tree when it has changed; on a terminal, in the place of the earlier one. */
function createTreePrinter({ io, output }: Cli): (runs: readonly TreeRun[]) => void {
  let shown = '';
  let lines = 0;
  return (runs) => {
    const text = output.isJson ? JSON.stringify(runs) : treeText(runs);
    if (text === shown) return;
    shown = text;
    const replaces = io.stdout.isTTY === true && !output.isJson;
    const fitted = replaces ? withinColumns(text, io.stdout.columns) : text;
    // Move up to the first line of the earlier tree, and clear everything below.
    if (replaces && lines > 0) io.stdout.write(`\u001b[${lines}A\u001b[J`);
    else if (lines > 0 && !output.isJson) io.stdout.write('\n');
    io.stdout.write(`${fitted}\n`);
    lines = fitted.split('\n').length;
  };
}

/** Cuts lines to the width of the terminal, because a wrapped line would count as two. */
function withinColumns(text: string, columns = 80): string {
  const lines = text.split('\n');
  return lines.map((line) => cutLine(line, columns)).join('\n');
}
