/** The commands of time travel and forks: at, fork, diff. */
import { Option, type Command } from 'commander';
import type { Everloop } from '../../client/everloop-client.ts';
import type { ForkStartOptions } from '../../client/forks.ts';
import { diffRuns } from '../../client/forks/run-diff.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import {
  FORK_EFFECTS,
  type ForkEdit,
  type ForkEffects,
  type RunMoment,
} from '../../core/base/fork.ts';
import { collect, readCount, readLimits, readTextFile } from '../terminal/arguments.ts';
import {
  print,
  showResult,
  untilInterrupted,
  withClient,
  type Cli,
  type CommandRunner,
} from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { diffText, momentText } from '../views/fork-text.ts';
import { waitFor } from './run.ts';

interface MomentFlags {
  readonly iteration?: string;
  readonly at?: string;
  readonly event?: string;
}

interface ForkFlags extends MomentFlags {
  readonly edit: readonly string[];
  readonly drop: readonly string[];
  readonly append: readonly string[];
  readonly model?: string;
  readonly limit: readonly string[];
  readonly task?: string;
  readonly agent?: string;
  readonly definition?: 'recorded' | 'current';
  readonly effects?: ForkEffects;
  readonly stats?: 'fresh' | 'keep';
  readonly id?: string;
  readonly detach?: boolean;
}

/** Adds `at RUN`: a run as it stood at a moment. */
export function addAtCommand(program: Command, act: CommandRunner): void {
  program
    .command('at')
    .summary('show a run as it stood before an iteration')
    .description(
      'Shows a run as it stood at a moment: its conversation, statistics and limits, and the calls ' +
        'that it made from there on. A worker replays the run, which is not touched.',
    )
    .argument('<run>', 'id of the run; alive or ended')
    .option('--iteration <number>', 'before this iteration (default: the newest)')
    .option('--event <number>', 'at the last boundary of iterations at or before this event')
    .option('--transcript', 'also show the conversation, with the numbers of its entries')
    .action((id: string, flags: MomentFlags & { readonly transcript?: true }) =>
      showResult(
        act,
        (everloop) => everloop.attach(id).at(momentOf(flags)),
        (view, output) => output.safe(momentText(view, flags.transcript === true)),
      ),
    );
}

/** Adds `fork RUN`: a run that begins from a moment of another one. */
export function addForkCommand(program: Command, act: CommandRunner): void {
  program
    .command('fork')
    .summary('take a run up again from the middle, with other words, model or limits')
    .description(
      'Starts a run that begins from a moment of another one, and waits for its answer. The source is ' +
        'not touched. If it made calls after the moment that are not `read`, say with --effects what ' +
        'the fork does with them.',
    )
    .argument('<run>', 'id of the run; alive or ended, a child or a fork as well')
    .option('--at <number>', 'before this iteration (default: the newest)')
    .option('--event <number>', 'at the last boundary of iterations at or before this event')
    .option(
      '--edit <entry=text>',
      'another text for an entry, or @ and a file; repeatable',
      collect,
      [],
    )
    .option('--drop <entry>', 'leave an entry out; repeatable', collect, [])
    .option('--append <text>', 'what the fork reads first; repeatable', collect, [])
    .option('--task <text>', 'another task')
    .option('--model <id>', 'model entry that replaces that of the source')
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .option('--agent <name>', 'another agent, with --definition current')
    .addOption(
      new Option('--definition <which>', 'the definition of the source, or that of today').choices([
        'recorded',
        'current',
      ]),
    )
    .addOption(new Option('--effects <what>', 'what calls do').choices(FORK_EFFECTS))
    .addOption(
      new Option('--stats <how>', 'counters begin at 0, or go on').choices(['fresh', 'keep']),
    )
    .option('--id <id>', "id of the fork (default: the source's and a random part)")
    .option('--detach', 'print the id and do not wait')
    .action((id: string, flags: ForkFlags) => act((cli) => forkRun(cli, id, flags)));
}

/** Adds `diff RUN RUN`: two runs side by side. */
export function addDiffCommand(program: Command, act: CommandRunner): void {
  program
    .command('diff')
    .summary('compare two runs from the end of what they share')
    .description(
      'Compares two runs, such as a run and its fork: what they said and called from the end of what ' +
        'they share, what that used, and how they ended.',
    )
    .argument('<left>', 'id of a run')
    .argument('<right>', 'id of another run')
    .action((left: string, right: string) =>
      showResult(
        act,
        (everloop) => diffRuns(everloop.attach(left), everloop.attach(right)),
        (diff, output) => output.safe(diffText(diff)),
      ),
    );
}

/** The moment that flags name; without any, the newest. */
function momentOf({ iteration, at = iteration, event }: MomentFlags): RunMoment {
  if (at !== undefined && event !== undefined) {
    throw new UsageError('argument', 'Expected an iteration or an event, got both. Leave one out.');
  }
  if (at !== undefined) {
    return { iteration: readCount(iteration === undefined ? '--at' : '--iteration', at, 1) };
  }
  return event === undefined ? 'latest' : { event: readCount('--event', event, 1) };
}

async function forkRun(cli: Cli, id: string, flags: ForkFlags): Promise<number> {
  const { model, limit, task, agent, definition, effects, stats } = flags;
  const options: ForkStartOptions = defined({
    edits: await editsOf(cli, flags),
    limits: limit.length === 0 ? undefined : readLimits(limit),
    model,
    task,
    agent,
    definition,
    effects,
    stats,
    id: flags.id,
  });
  return withClient(cli, async (everloop) => {
    const fork = await forkOrExplain(everloop, { run: id, at: momentOf(flags) }, options);
    if (flags.detach === true) return print(cli, fork.id, { id: fork.id, forkedFrom: id });
    cli.output.note(cli.output.paintNote('dim', `run ${fork.id}`));
    return untilInterrupted(
      cli,
      (signal) => waitFor(cli, fork, signal),
      () => {
        cli.output.note(`\nRun ${fork.id} goes on: \`everloop show ${fork.id}\`.`);
        return EXIT_CODES.interrupted;
      },
    );
  });
}

/** An error about effects names the flag. */
async function forkOrExplain(
  everloop: Everloop,
  source: { readonly run: string; readonly at: RunMoment },
  options: ForkStartOptions,
): Promise<RunHandle> {
  try {
    return await everloop.fork(source, options);
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'fork_effects') throw error;
    throw new UsageError('fork_effects', error.message.replace('`effects`', '`--effects`'));
  }
}

async function editsOf(
  { io }: Cli,
  { edit, drop, append }: Pick<ForkFlags, 'edit' | 'drop' | 'append'>,
): Promise<readonly ForkEdit[]> {
  const texts = await Promise.all(
    edit.map(async (one): Promise<ForkEdit> => {
      const at = one.indexOf('=');
      const [entry, text] = [one.slice(0, Math.max(0, at)), one.slice(at + 1)];
      if (at < 1) {
        throw new UsageError(
          'argument',
          `Expected \`--edit\` to be ENTRY=TEXT or ENTRY=@FILE, got \`${one.slice(0, 200)}\`. Correct it.`,
        );
      }
      const whole = text.startsWith('@') ? await readTextFile(text.slice(1), io.cwd) : text;
      return { entry: readCount('--edit', entry, 0), text: whole };
    }),
  );
  return [
    ...texts,
    ...drop.map((entry) => ({ drop: readCount('--drop', entry, 0) })),
    ...append.map((text) => ({ append: text })),
  ];
}
