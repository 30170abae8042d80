/** The commands that show a tree of runs as one thing: tree, budget. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunHandle } from '../../client/run-handle.ts';
import type { TreeRun } from '../../client/tree-run.ts';
import { untilInterrupted, withClient, type Act, type Cli } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { POLL_MS } from '../views/follow.ts';
import { budgetText, treeText } from '../views/tree-text.ts';

/** Adds `tree RUN`: the run and all below it. */
export function addTreeCommand(program: Command, act: Act): void {
  program
    .command('tree')
    .summary('show a run and all runs below it')
    .description(
      'Shows a run and all runs below it: where each stands, what it waits for, and what it and all ' +
        'below it have used. A run that no worker answers for is silent. With --json one list of ' +
        'runs; with --json and --follow one list on a line, whenever something has changed.',
    )
    .argument('<run>', 'id of the run; of a child to see the tree from there down')
    .option('-f, --follow', 'go on until the run ends; on a terminal in place')
    .action((id: string, options: { readonly follow?: boolean }) =>
      act((cli) =>
        withClient(cli, async (everloop) => {
          const run = everloop.attach(id);
          if (options.follow === true) return followTree(cli, run);
          const runs = await run.tree();
          cli.output.text(treeText(runs));
          cli.output.json(runs);
          return EXIT_CODES.success;
        }),
      ),
    );
}

/** Adds `budget RUN`: the limits over a tree, and where they are. */
export function addBudgetCommand(program: Command, act: Act): void {
  program
    .command('budget')
    .summary('show the limits over a tree, and what of them is used, reserved and free')
    .description(
      'Shows the limits that hold for a run and all below it, per branch: what may be spent, what is ' +
        'used, reserved for runs and calls in flight, and free.',
    )
    .argument('<run>', 'id of the run; of a child to see its part')
    .action((id: string) =>
      act(async (cli) => {
        const runs = await withClient(cli, (everloop) => everloop.attach(id).tree());
        cli.output.text(budgetText(runs));
        cli.output.json(budgetsOf(runs));
        return EXIT_CODES.success;
      }),
    );
}

/** The budgets of each run that has some, as `--json` gives them. */
function budgetsOf(runs: readonly TreeRun[]): readonly object[] {
  return runs
    .filter(({ budgets }) => budgets.length > 0)
    .map(({ id, agent, path, budgets }) => ({ id, agent, path, budgets }));
}

function followTree(cli: Cli, run: RunHandle): Promise<number> {
  return untilInterrupted(
    cli,
    async (signal) => {
      const show = createTreePrinter(cli);
      while (!signal.aborted) {
        const runs = await run.tree();
        if (signal.aborted) break;
        show(runs);
        if (runs[0]?.state === 'ended') break;
        // An abort ends the pause early and says nothing else.
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
      return EXIT_CODES.success;
    },
    () => EXIT_CODES.interrupted,
  );
}

/** Shows a tree when it has changed: on a terminal in the place of the one before. */
function createTreePrinter({ io, output }: Cli): (runs: readonly TreeRun[]) => void {
  let shown = '';
  let lines = 0;
  return (runs) => {
    const text = output.isJson ? JSON.stringify(runs) : treeText(runs);
    if (text === shown) return;
    shown = text;
    const isInPlace = io.stdout.isTTY === true && !output.isJson;
    const fitted = isInPlace ? withinColumns(text, io.stdout.columns) : text;
    // Up to the first line of the tree before, and everything below it away.
    if (isInPlace && lines > 0) io.stdout.write(`\u001b[${lines}A\u001b[J`);
    else if (lines > 0 && !output.isJson) io.stdout.write('\n');
    io.stdout.write(`${fitted}\n`);
    lines = fitted.split('\n').length;
  };
}

/** Lines no longer than a line of the terminal: one that wraps would be two to go up. */
function withinColumns(text: string, columns = 80): string {
  return text
    .split('\n')
    .map((line) => {
      const characters = Array.from(line);
      return characters.length <= columns ? line : `${characters.slice(0, columns - 1).join('')}…`;
    })
    .join('\n');
}
