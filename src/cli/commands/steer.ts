/** The commands that tell a live run something: send, cancel, pause, resume, adjust. */
import { Option, type Command } from 'commander';
import type { RunHandle, SendOptions } from '../../client/run-handle.ts';
import type { TreeOption } from '../../client/run-tree.ts';
import type { AdjustReceipt } from '../../core/contract/messages.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { collect, readLimits } from '../terminal/arguments.ts';
import { withClient, type Act } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { tableText } from '../terminal/text.ts';

/** Adds `send ID TEXT`: gives input to a live run. */
export function addSendCommand(program: Command, act: Act): void {
  withPath(program.command('send'))
    .summary('give input to a live run')
    .description('Gives input to a live run.')
    .argument('<id>', 'id of the run')
    .argument('<text>', 'what to say')
    .addOption(
      new Option(
        '--kind <kind>',
        'queue: in the next iteration; steer: before the next model call; interrupt: abort the call in flight',
      )
        .choices(['queue', 'steer', 'interrupt'])
        .default('queue'),
    )
    .option('--input-id <id>', 'repeating an id gives the first position again')
    .option('--tree', 'also to all runs below')
    .action((id: string, text: string, options: SendCommandOptions) =>
      tell(act, id, options, async (run, say) => {
        const { kind, inputId, tree } = options;
        const position = await run.send(text, {
          kind,
          ...treeOf({ tree }),
          ...(inputId === undefined ? {} : { id: inputId }),
        });
        say(`Accepted as input ${position} of ${nameOf(run, tree)}.`, { id: run.id, position });
      }),
    );
}

/** Adds `cancel ID`: ends a run. */
export function addCancelCommand(program: Command, act: Act): void {
  withPath(program.command('cancel'))
    .summary('end a run')
    .description(
      'Ends a run and all runs below it: aborts what is in flight. Each still gives its Step.',
    )
    .argument('<id>', 'id of the run')
    .option('--message <text>', 'why; stands in the Step')
    .action((id: string, options: PathOption & { readonly message?: string }) =>
      tell(act, id, options, async (run, say) => {
        await run.cancel(options.message);
        say(`Run ${run.id} is asked to end.`, { id: run.id, canceling: true });
      }),
    );
}

/** Adds `pause ID`: stops a run before its next iteration, or the next call of its program. */
export function addPauseCommand(program: Command, act: Act): void {
  withPath(program.command('pause'))
    .summary('stop a run before its next iteration')
    .description(
      'Stops a run before its next iteration, or before the next call or question of its program; ' +
        'what is in flight ends normally.',
    )
    .argument('<id>', 'id of the run')
    .option('--tree', 'also all runs below')
    .action((id: string, options: TreeCommandOptions) =>
      tell(act, id, options, async (run, say) => {
        const receipt = await run.pause(treeOf(options));
        say(`${capital(nameOf(run, options.tree))} is paused.`, { id: run.id, ...receipt });
      }),
    );
}

/** Adds `resume ID`: lets a paused run go on. */
export function addResumeCommand(program: Command, act: Act): void {
  withPath(program.command('resume'))
    .summary('let a paused run go on')
    .description('Lets a paused run go on.')
    .argument('<id>', 'id of the run')
    .option('--tree', 'also all runs below')
    .action((id: string, options: TreeCommandOptions) =>
      tell(act, id, options, async (run, say) => {
        const receipt = await run.resume(treeOf(options));
        say(`${capital(nameOf(run, options.tree))} goes on.`, { id: run.id, ...receipt });
      }),
    );
}

/** Adds `adjust ID --limit key=value`: changes the limits of a live run. */
export function addAdjustCommand(program: Command, act: Act): void {
  withPath(program.command('adjust'))
    .summary('change limits of a live run')
    .description('Changes limits of a live run, and says which hold then.')
    .argument('<id>', 'id of the run')
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .action((id: string, options: PathOption & { readonly limit: readonly string[] }) =>
      tell(act, id, options, async (run, say) => {
        const receipt = await run.adjust(requiredLimits(options.limit));
        say(limitsText(receipt), { id: run.id, ...receipt });
      }),
    );
}

/** Names one run below the run that a command is given. */
export interface PathOption {
  readonly path?: string;
}

interface TreeCommandOptions extends PathOption {
  readonly tree?: boolean;
}

interface SendCommandOptions extends TreeCommandOptions {
  readonly kind: NonNullable<SendOptions['kind']>;
  readonly inputId?: string;
}

/** Adds `--path` to a command that is given a run. */
export function withPath(command: Command): Command {
  return command.option(
    '--path <path>',
    'a run below: its path, or the calls that lead there, such as 1.2/3.1; see `everloop tree`',
  );
}

function treeOf({ tree }: { readonly tree?: boolean | undefined }): TreeOption {
  return tree === true ? { tree } : {};
}

function nameOf({ id }: RunHandle, tree: boolean | undefined): string {
  return tree === true ? `the tree of run ${id}` : `run ${id}`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Does something with the handle of a run, or of one below; `say` takes the result as text and as JSON. */
export function tell(
  act: Act,
  id: string,
  { path }: PathOption,
  work: (run: RunHandle, say: (text: string, value: object) => void) => Promise<void>,
): Promise<void> {
  return act(async (cli) => {
    await withClient(cli, async (everloop) => {
      const run = everloop.attach(id);
      await work(path === undefined ? run : await run.child(path), (text, value) => {
        cli.output.text(text);
        cli.output.json(value);
      });
    });
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

/** The limits that hold now, as a table. */
function limitsText({ limits }: AdjustReceipt): string {
  if (limits.length === 0) return 'No limits.';
  return tableText(
    ['LIMIT', 'MAX'],
    limits.map(({ kind, key, max }) => [kind === 'prefix' ? `${key}*` : key, String(max)]),
  );
}
