/** The commands for the people that runs wait for: inbox, answer, approve, deny. */
import type { Command } from 'commander';
import type { InboxView } from '../../client/everloop-client.ts';
import type { Json } from '../../core/base/json.ts';
import { readJsonArgument, readObject } from '../terminal/arguments.ts';
import { withClient, type Act } from '../terminal/cli.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { pendingText } from '../views/run-text.ts';
import { cellText, durationText, oneLine, tableText } from '../terminal/text.ts';
import { tell, withPath, type PathOption } from './steer.ts';

/** Characters of what waits; a line should fit a terminal. */
const ITEM_WIDTH = 70;

/** Adds `inbox`: what waits for people, across all runs. */
export function addInboxCommand(program: Command, act: Act): void {
  program
    .command('inbox')
    .summary('list what waits for people, across all runs')
    .description(
      'Lists questions, calls to approve and outside work that runs wait for, oldest first.',
    )
    .action(() =>
      act(async (cli) => {
        const view = await withClient(cli, (everloop) => everloop.inbox());
        cli.output.text(inboxText(view, Date.now()));
        for (const id of view.silent) {
          cli.output.note(`Run ${id} waits for somebody, and no worker says for what.`);
        }
        cli.output.json(view);
        return EXIT_CODES.success;
      }),
    );
}

/** Adds `answer RUN ID VALUE`: answers a question or ends outside work. */
export function addAnswerCommand(program: Command, act: Act): void {
  withPath(program.command('answer'))
    .summary('answer a question of a run, or end its outside work')
    .description('Answers a question of a run, or ends work that goes on outside with its result.')
    .argument('<run>', 'id of the run')
    .argument('<id>', 'what to answer: q1, 2.1; see `everloop inbox`')
    .argument('<value>', 'a text, an option or its number')
    .option('--as-json', 'the value is JSON, as for the result of outside work')
    .option('--update-id <id>', 'repeating an id changes nothing')
    .action((run: string, id: string, text: string, options: AnswerOptions) =>
      tell(act, run, options, async (handle, say) => {
        const value: Json = options.asJson === true ? readJsonArgument('<value>', text) : text;
        await handle.answer(id, value, updateOf(options));
        say(`Answered ${id} of run ${handle.id}.`, { run: handle.id, id, value });
      }),
    );
}

/** Adds `approve RUN ID`: lets a call run, with other arguments if they are given. */
export function addApproveCommand(program: Command, act: Act): void {
  withPath(program.command('approve'))
    .summary('let a call run that waits for approval')
    .description('Lets a call run that waits for approval, with other arguments if they are given.')
    .argument('<run>', 'id of the run')
    .argument('<id>', 'id of the call: 2.1; see `everloop inbox`')
    .option('--args <json>', 'run it with these arguments instead of those of the model')
    .option('--update-id <id>', 'repeating an id changes nothing')
    .action((run: string, id: string, options: ApproveOptions) =>
      tell(act, run, options, async (handle, say) => {
        const args = options.args === undefined ? undefined : readObject('--args', options.args);
        const decision = args === undefined ? { approve: true as const } : { args };
        await handle.decide(id, decision, updateOf(options));
        const how = args === undefined ? '' : ' with other arguments';
        say(`Approved ${id} of run ${handle.id}${how}.`, { run: handle.id, id, decision });
      }),
    );
}

/** Adds `deny RUN ID`: a call does not run. */
export function addDenyCommand(program: Command, act: Act): void {
  withPath(program.command('deny'))
    .summary('refuse a call that waits for approval')
    .description('Refuses a call that waits for approval; the model reads the reason.')
    .argument('<run>', 'id of the run')
    .argument('<id>', 'id of the call: 2.1; see `everloop inbox`')
    .option('--reason <text>', 'why', '')
    .option('--update-id <id>', 'repeating an id changes nothing')
    .action((run: string, id: string, options: DenyOptions) =>
      tell(act, run, options, async (handle, say) => {
        const decision = { deny: options.reason };
        await handle.decide(id, decision, updateOf(options));
        say(`Denied ${id} of run ${handle.id}.`, { run: handle.id, id, decision });
      }),
    );
}

interface UpdateOptions extends PathOption {
  readonly updateId?: string;
}

interface AnswerOptions extends UpdateOptions {
  readonly asJson?: boolean;
}

interface ApproveOptions extends UpdateOptions {
  readonly args?: string;
}

interface DenyOptions extends UpdateOptions {
  readonly reason: string;
}

function updateOf({ updateId }: UpdateOptions): { readonly updateId?: string } {
  return updateId === undefined ? {} : { updateId };
}

/** What waits as a table; `nowMs` is what ages are counted from. */
export function inboxText({ items, silent }: InboxView, nowMs: number): string {
  if (items.length === 0)
    return silent.length === 0 ? 'Nothing waits.' : 'Nothing is known to wait.';
  return tableText(
    ['RUN', 'PATH', 'ID', 'KIND', 'AGE', 'WHAT'],
    items.map(({ run, item }) => [
      cellText(run),
      cellText(item.path),
      item.id,
      item.kind,
      durationText(Math.max(0, nowMs - item.since)),
      oneLine(pendingText(item), ITEM_WIDTH),
    ]),
  );
}
