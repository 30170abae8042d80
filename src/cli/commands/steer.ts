/** The commands that tell a live run something: send, cancel, pause, resume, adjust. */
import { Option, type Command } from 'commander';
import type { RunHandle, SendOptions } from '../../client/run-handle.ts';
import type { AdjustReceipt } from '../../core/agent/messages.ts';
import { UsageError } from '../../core/usage-error.ts';
import { collect, readLimits } from '../arguments.ts';
import { withClient, type Act } from '../cli.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { tableText } from '../text.ts';

/** Adds `send ID TEXT`: gives input to a live run. */
export function addSendCommand(program: Command, act: Act): void {
  program
    .command('send')
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
    .action(
      (id: string, text: string, options: { readonly kind: string; readonly inputId?: string }) =>
        tell(act, id, async (run, say) => {
          const { kind, inputId } = options;
          const position = await run.send(text, {
            kind: kind as NonNullable<SendOptions['kind']>,
            ...(inputId === undefined ? {} : { id: inputId }),
          });
          say(`Accepted as input ${position} of run ${id}.`, { id, position });
        }),
    );
}

/** Adds `cancel ID`: ends a run. */
export function addCancelCommand(program: Command, act: Act): void {
  program
    .command('cancel')
    .summary('end a run')
    .description('Ends a run: aborts what is in flight. It still gives its Step.')
    .argument('<id>', 'id of the run')
    .option('--message <text>', 'why; stands in the Step')
    .action((id: string, { message }: { readonly message?: string }) =>
      tell(act, id, async (run, say) => {
        await run.cancel(message);
        say(`Run ${id} is asked to end.`, { id, canceling: true });
      }),
    );
}

/** Adds `pause ID`: stops a run before its next iteration. */
export function addPauseCommand(program: Command, act: Act): void {
  program
    .command('pause')
    .summary('stop a run before its next iteration')
    .description('Stops a run before its next iteration; what is in flight ends normally.')
    .argument('<id>', 'id of the run')
    .action((id: string) =>
      tell(act, id, async (run, say) => {
        const receipt = await run.pause();
        say(`Run ${id} is paused.`, { id, ...receipt });
      }),
    );
}

/** Adds `resume ID`: lets a paused run go on. */
export function addResumeCommand(program: Command, act: Act): void {
  program
    .command('resume')
    .summary('let a paused run go on')
    .description('Lets a paused run go on.')
    .argument('<id>', 'id of the run')
    .action((id: string) =>
      tell(act, id, async (run, say) => {
        const receipt = await run.resume();
        say(`Run ${id} goes on.`, { id, ...receipt });
      }),
    );
}

/** Adds `adjust ID --limit key=value`: changes the limits of a live run. */
export function addAdjustCommand(program: Command, act: Act): void {
  program
    .command('adjust')
    .summary('change limits of a live run')
    .description('Changes limits of a live run, and says which hold then.')
    .argument('<id>', 'id of the run')
    .option('--limit <key=value>', 'limit such as totalTokens=200000; repeatable', collect, [])
    .action((id: string, options: { readonly limit: readonly string[] }) => {
      return tell(act, id, async (run, say) => {
        const receipt = await run.adjust(requiredLimits(options.limit));
        say(limitsText(receipt), { id, ...receipt });
      });
    });
}

/** Does something with a run's handle; `say` takes the result as text and as JSON. */
export function tell(
  act: Act,
  id: string,
  work: (run: RunHandle, say: (text: string, value: object) => void) => Promise<void>,
): Promise<void> {
  return act(async (cli) => {
    await withClient(cli, (everloop) =>
      work(everloop.attach(id), (text, value) => {
        cli.output.text(text);
        cli.output.json(value);
      }),
    );
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
