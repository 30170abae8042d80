/** The commands that steer a live run: send, cancel, pause, resume, adjust. */
import { Option, type Command } from 'commander';
import type { PauseOptions, RunHandle, SendOptions } from '../../client/run-handle.ts';
import type { TreeOption } from '../../client/run-tree.ts';
import { defined } from '../../core/base/defined.ts';
import type { AdjustReceipt } from '../../core/contract/messages.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { StatedActor } from '../../core/contract/pending.ts';
import { collect, readLimits } from '../terminal/arguments.ts';
import { onRun, print, type CommandRunner, type AddCommand } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { tableText } from '../terminal/text.ts';

/** In the order of the help. */
export const STEER_COMMANDS: readonly AddCommand[] = [
  addSendCommand,
  addCancelCommand,
  addPauseCommand,
  addResumeCommand,
  addAdjustCommand,
  addRetryCommand,
];

function addSendCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('send'))
    .summary('give input to a live run')
    .description('Gives input to a live run.')
    .argument('<id>', 'id of the run')
    .argument('<text>', 'the message')
    .addOption(
      new Option(
        '--kind <kind>',
        'queue: read in the next iteration; steer: read there before queued ones; interrupt: also aborts what is in flight',
      )
        .choices(['queue', 'steer', 'interrupt'])
        .default('queue'),
    )
    .option('--input-id <id>', 'id of the input; repeating it prints the first position again')
    .option('--tree', 'also give it to all runs below')
    .action((id: string, input: string, options: SendCommandOptions) =>
      withRun(act, id, options, async (run, show) => {
        const { kind, tree, inputId, by } = options;
        const position = await run.send(input, defined({ kind, tree, id: inputId, by }));
        const name = options.tree === true ? `the tree of run ${run.id}` : `run ${run.id}`;
        const text =
          position === null
            ? `Sent to ${name}. ${UNAPPLIED}`
            : `Accepted as input ${position} of ${name}.`;
        show(text, { id: run.id, position });
      }),
    );
}

function addCancelCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('cancel'))
    .summary('end a run')
    .description(
      'Ends a run and all runs below it, and aborts what is in flight. Each still ends with a Step, ' +
        'unless the run is forced.',
    )
    .argument('<id>', 'id of the run')
    .option('--message <text>', 'reason, which the Step keeps')
    .option('--force', 'end it at once and without a Step, also when no worker can take it')
    .action((id: string, options: CancelCommandOptions) =>
      withRun(act, id, options, async (run, show) => {
        const { message, force = false, by } = options;
        await run.cancel(message, { force, ...defined({ by }) });
        const text = force ? `Run ${run.id} is ended.` : `Run ${run.id} is asked to end.`;
        show(text, { id: run.id, canceling: true, ...(force ? { forced: true } : {}) });
      }),
    );
}

function addPauseCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('pause'))
    .summary('stop a run before its next iteration')
    .description(
      'Stops a run before its next iteration, or before the next call or question of its program; ' +
        'what is in flight ends normally.',
    )
    .argument('<id>', 'id of the run')
    .option('--tree', 'also all runs below')
    .action(treeAction(act, (run, options) => run.pause(options), 'is paused'));
}

function addResumeCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('resume'))
    .summary('let a paused run go on')
    .description('Lets a paused run go on.')
    .argument('<id>', 'id of the run')
    .option('--tree', 'also all runs below')
    .action(treeAction(act, (run, options) => run.resume(options), 'goes on'));
}

function treeAction(
  act: CommandRunner,
  work: (run: RunHandle, options: PauseOptions) => Promise<AdjustReceipt>,
  outcome: string,
): (id: string, options: TreeCommandOptions) => Promise<void> {
  return (id, options) =>
    withRun(act, id, options, async (run, show) => {
      const receipt = await work(run, defined({ tree: options.tree, by: options.by }));
      const name = options.tree === true ? `The tree of run ${run.id}` : `Run ${run.id}`;
      show(`${name} ${outcome}.`, { id: run.id, ...receipt });
    });
}

function addAdjustCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('adjust'))
    .summary('change limits of a live run')
    .description('Changes limits of a live run, and prints the limits that then apply.')
    .argument('<id>', 'id of the run')
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .action((id: string, options: ActorOptions & { readonly limit: readonly string[] }) =>
      withRun(act, id, options, async (run, show) => {
        const receipt = await run.adjust(
          requiredLimits(options.limit),
          defined({ by: options.by }),
        );
        show(limitsText(receipt), { id: run.id, ...receipt });
      }),
    );
}

function addRetryCommand(program: Command, act: CommandRunner): void {
  withPath(program.command('retry'))
    .summary('have a call tried again that waits for an operator')
    .description(
      'Has a call tried once more that ten workers died with. `everloop show` lists such calls with ' +
        'what the run waits for.',
    )
    .argument('<id>', 'id of the run')
    .argument('<call>', 'id of the call, such as 2.1')
    .action((id: string, callId: string, options: PathOption) =>
      withRun(act, id, options, async (run, show) => {
        await run.retry(callId);
        show(`Call ${callId} of run ${run.id} is tried again.`, { id: run.id, callId });
      }),
    );
}

/** What a message says that no worker has taken. */
export const UNAPPLIED =
  'It is accepted, not yet applied: no worker answers for the run. The next one applies it, or tells by an event why not.';

/** Selects a run below the run of a command. */
export interface PathOption {
  readonly path?: string;
}

/** Options of a command of which an event says whose it was. */
export type ActorOptions = PathOption & StatedActor;

interface CancelCommandOptions extends ActorOptions {
  readonly message?: string;
  readonly force?: boolean;
}

type TreeCommandOptions = ActorOptions & TreeOption;

interface SendCommandOptions extends TreeCommandOptions {
  readonly kind: NonNullable<SendOptions['kind']>;
  readonly inputId?: string;
}

/** Adds `--path` to a command that takes a run. */
export function withPath(command: Command): Command {
  return command.option(
    '--path <path>',
    'a run below, by its path or by calls such as 1.2/3.1; see `everloop tree`',
  );
}

/** Adds `--path` and `--by`. */
export function withActor(command: Command): Command {
  return withPath(command).option('--by <name>', 'who does this; kept in the event, not checked');
}

/** Calls `work` with the handle of a run or of one below; `show` prints the result. */
export function withRun(
  act: CommandRunner,
  id: string,
  { path }: PathOption,
  work: (run: RunHandle, show: (text: string, value: object) => void) => Promise<void>,
): Promise<void> {
  return onRun(act, id, async (cli, run) => {
    const target = path === undefined ? run : await run.child(path);
    await work(target, (text, value) => void print(cli, text, value));
    return EXIT_CODES.success;
  });
}

function requiredLimits(texts: readonly string[]): NonNullable<ReturnType<typeof readLimits>> {
  const limits = readLimits(texts);
  if (limits !== undefined) return limits;
  throw new UsageError(
    'argument',
    'Expected at least one `--limit key=value`, got none. Write it as `--limit totalTokens=200000`.',
  );
}

/** The current limits as a table. */
function limitsText({ limits }: AdjustReceipt): string {
  if (limits.length === 0) return 'No limits.';
  return tableText(
    ['LIMIT', 'MAX'],
    limits.map(({ kind, key, max, byDefault }) => [
      kind === 'prefix' ? `${key}*` : key,
      byDefault === true ? `${max} (default)` : String(max),
    ]),
  );
}
