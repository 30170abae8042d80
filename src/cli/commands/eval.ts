/** The command `eval`: moments of runs, or tasks, with several variants. */
import { Option, type Command } from 'commander';
import { evalOf, type EvalInput } from '../../client/evals.ts';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { EvalVariant } from '../../core/evaluation/eval-plan.ts';
import { FORK_EFFECTS, type ForkEffects } from '../../core/base/fork.ts';
import { evalTable } from '../../core/evaluation/eval-table.ts';
import { partialText } from '../../core/evaluation/partial.ts';
import type { Step } from '../../core/contract/step.ts';
import { collect, readCount, readJsonObject, readLimits } from '../terminal/arguments.ts';
import {
  print,
  untilInterrupted,
  withClient,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES, exitCodeOfStep } from '../terminal/exit-codes.ts';
import { terminalText } from '../terminal/text.ts';
import { evalText } from '../views/eval-text.ts';
import { follow } from '../views/follow.ts';

interface EvalFlags {
  readonly run: readonly string[];
  readonly variant: readonly string[];
  readonly times?: string;
  readonly judge?: string;
  readonly effects?: ForkEffects;
  readonly limit: readonly string[];
  readonly tenant?: string;
  readonly id?: string;
  readonly detach?: boolean;
}

/** Adds `eval [FILE]`: continues moments or runs tasks with several variants, and compares them. */
export function addEvalCommand(program: Command, act: CommandRunner): void {
  program
    .command('eval')
    .summary('compare models, instructions or definitions on recorded moments or tasks')
    .description(
      'Continues recorded moments of runs, or runs tasks, with each variant, and prints a table of ' +
        'outcomes, tokens, cost and turns. It is one durable run with one budget. With --json, prints ' +
        'the table and every try. FILE is JSON: { moments, tasks, variants, times, judge, effects }.',
    )
    .argument('[file]', 'a JSON file with the eval')
    .option('--run <id[@iteration]>', 'a moment beside those of the file; repeatable', collect, [])
    .option(
      '--variant <name=model>',
      'a variant with a model beside those of the file; repeatable',
      collect,
      [],
    )
    .option('--times <number>', 'how often each variant goes on from each part')
    .option('--judge <agent>', 'an agent that judges the answers')
    .addOption(new Option('--effects <what>', 'what calls do in forks').choices(FORK_EFFECTS))
    .option('--limit <key=value>', 'limit of the whole eval; repeatable', collect, [])
    .option('--tenant <name>', 'the tenant of the eval (default: that of the recorded runs)')
    .option('--id <id>', 'id of the run of the eval')
    .option('--detach', 'print the id and do not wait')
    .action((file: string | undefined, flags: EvalFlags) =>
      act((cli) => runEval(cli, file, flags)),
    );
}

async function runEval(cli: Cli, file: string | undefined, flags: EvalFlags): Promise<number> {
  const input = await inputOf(cli, file, flags);
  const { id, tenant } = flags;
  const limits = readLimits(flags.limit);
  return withClient(cli, async (everloop) => {
    const run = await everloop.evaluate(input, defined({ id, tenant, limits }));
    if (flags.detach === true) return print(cli, run.id, { id: run.id });
    const { output } = cli;
    output.note(output.paintNote('dim', `run ${run.id}`));
    return untilInterrupted(
      cli,
      async (signal) => {
        const step = await follow(run, output, { streams: false, signal });
        showResult(cli, run.id, step);
        return exitCodeOfStep(step);
      },
      () => {
        output.note(`\nThe eval goes on: \`everloop show ${run.id}\`.`);
        return EXIT_CODES.interrupted;
      },
    );
  });
}

/** The table, of a run that ended early that of the tries until then, and why it ended. */
function showResult({ output }: Cli, id: string, step: Step): void {
  const { status, reason, message } = step;
  const found = evalOf(step);
  if (found === null) {
    output.note(terminalText(message ?? reason));
    output.json({ id, status, reason });
    return;
  }
  const { rows, tries } = found;
  const table = evalTable(rows);
  const partial = partialText(found);
  const text = [table.length === 0 ? undefined : evalText(table), partial].filter(
    (part) => part !== undefined,
  );
  output.text(output.safe(text.join('\n\n')));
  if (status !== 'success') output.note(terminalText(message ?? reason));
  output.json({ id, status, reason, tries, isPartial: partial !== undefined, table, rows });
}

/** The file with what flags add to it and replace in it. */
async function inputOf(
  { io }: Cli,
  file: string | undefined,
  { run, variant, times, judge, effects }: EvalFlags,
): Promise<EvalInput> {
  const written = await readJsonObject('file', file === undefined ? undefined : `@${file}`, io.cwd);
  const given = (written ?? {}) as Partial<EvalInput>;
  return {
    ...given,
    moments: [...(given.moments ?? []), ...run.map(momentOf)],
    variants: [...(given.variants ?? []), ...variant.map(variantOf)],
    ...defined({
      times: times === undefined ? undefined : readCount('--times', times, 1),
      judge,
      effects,
    }),
  };
}

/** `clerk-7@4`: before iteration 4 of run `clerk-7`. */
function momentOf(text: string): NonNullable<EvalInput['moments']>[number] {
  const [, run = text, iteration] = /^(.+)@(\d+)$/.exec(text) ?? [];
  return iteration === undefined
    ? { run }
    : { run, at: { iteration: readCount('--run', iteration, 1) } };
}

function variantOf(text: string): EvalVariant {
  const at = text.indexOf('=');
  const [name, model] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (at < 1 || model === '') {
    throw new UsageError(
      'argument',
      `Expected \`--variant\` to be NAME=MODEL, got \`${text.slice(0, 200)}\`. Write other variants in a file.`,
    );
  }
  return { name, model };
}
