/** The commands that show and answer what waits for people: inbox, answer, approve, deny. */
import { Option, type Command } from 'commander';
import type { InboxView } from '../../client/inbox.ts';
import { defined } from '../../core/base/defined.ts';
import type { AnswerReceipt } from '../../core/contract/messages.ts';
import type { AnswerOptions, ApprovalScope } from '../../core/contract/pending.ts';
import { readJsonArgument, readObject } from '../terminal/arguments.ts';
import { print, withClient, type CommandRunner, type AddCommand } from '../terminal/cli.ts';
import { pendingText } from '../views/run-text.ts';
import { cellText, durationText, oneLine, tableText } from '../terminal/text.ts';
import { UNAPPLIED, withActor, withRun, type ActorOptions } from './steer.ts';

/** Characters of an item; a line should fit on a terminal. */
const ITEM_WIDTH = 70;

/** In the order of the help. */
export const PEOPLE_COMMANDS: readonly AddCommand[] = [
  addInboxCommand,
  addAnswerCommand,
  addApproveCommand,
  addDenyCommand,
  addRevokeCommand,
];

function addInboxCommand(program: Command, act: CommandRunner): void {
  program
    .command('inbox')
    .summary('list what waits for people, in all runs')
    .description(
      'Lists the questions, calls to approve and outside work that runs wait for, oldest first.',
    )
    .action(() =>
      act(async (cli) => {
        const view = await withClient(cli, (everloop) => everloop.inbox());
        const exitCode = print(cli, inboxText(view, Date.now()), view);
        for (const id of view.silent) {
          cli.output.note(`Run ${id} waits for a person, but no worker can say for what.`);
        }
        if (view.more > 0) {
          cli.output.note(`${view.more} more runs wait for a person. Look again to ask them.`);
        }
        return exitCode;
      }),
    );
}

function addAnswerCommand(program: Command, act: CommandRunner): void {
  itemCommand(program, 'answer')
    .summary('answer a question of a run, or end its outside work')
    .description('Answers a question of a run, or ends outside work with its result.')
    .argument('<id>', 'id of the item, such as q1 or 2.1; see `everloop inbox`')
    .argument('<value>', 'a text, an option or its number')
    .option('--as-json', 'read the value as JSON, for the result of outside work')
    .action((run: string, id: string, text: string, options: AnswerFlags) =>
      withRun(act, run, options, async (handle, show) => {
        const value = options.asJson === true ? readJsonArgument('<value>', text) : text;
        const receipt = await handle.answer(id, value, updateOf(options));
        show(`Answered ${id} of run ${handle.id}.${unappliedNote(receipt)}`, {
          run: handle.id,
          value,
          ...receipt,
        });
      }),
    );
}

function addApproveCommand(program: Command, act: CommandRunner): void {
  itemCommand(program, 'approve')
    .summary('approve a call that waits for approval')
    .description('Approves a call that waits for approval, with other arguments if given.')
    .argument('<id>', 'id of the call, such as 2.1; see `everloop inbox`')
    .option('--args <json>', "replace the model's arguments")
    .addOption(
      new Option('--remember <scope>', 'approve later calls of this run too, see `revoke`')
        .choices(['tool', 'arguments'])
        .conflicts('args'),
    )
    .action((run: string, id: string, options: ApproveFlags) =>
      withRun(act, run, options, async (handle, show) => {
        const { remember } = options;
        const args = options.args === undefined ? undefined : readObject('--args', options.args);
        const approved = { approve: true, ...defined({ remember }) } as const;
        const decision = args === undefined ? approved : { args };
        const receipt = await handle.decide(id, decision, updateOf(options));
        const how = args === undefined ? REMEMBERED[remember ?? 'no'] : ' with other arguments';
        show(`Approved ${id} of run ${handle.id}${how}.${unappliedNote(receipt)}`, {
          run: handle.id,
          decision,
          ...receipt,
        });
      }),
    );
}

/** What follows `Approved 2.1 of run …`. */
const REMEMBERED = {
  no: '',
  tool: ', and all later calls of its tool',
  arguments: ', and later calls with the same arguments',
};

function addRevokeCommand(program: Command, act: CommandRunner): void {
  withActor(program.command('revoke'))
    .summary('end an approval that holds for later calls')
    .description('Ends an approval that was given with `approve --remember`.')
    .argument('<run>', 'id of the run')
    .argument('<id>', 'id of the call for which it was given; see `everloop show`')
    .action((run: string, id: string, options: ActorOptions) =>
      withRun(act, run, options, async (handle, show) => {
        await handle.revoke(id, defined({ by: options.by }));
        show(`Revoked the approval ${id} of run ${handle.id}.`, { run: handle.id, id });
      }),
    );
}

function addDenyCommand(program: Command, act: CommandRunner): void {
  itemCommand(program, 'deny')
    .summary('deny a call that waits for approval')
    .description('Denies a call that waits for approval; the model reads the reason.')
    .argument('<id>', 'id of the call, such as 2.1; see `everloop inbox`')
    .option('--reason <text>', 'reason for the model', '')
    .action((run: string, id: string, options: UpdateOptions & { readonly reason: string }) =>
      withRun(act, run, options, async (handle, show) => {
        const decision = { deny: options.reason };
        const receipt = await handle.decide(id, decision, updateOf(options));
        show(`Denied ${id} of run ${handle.id}.${unappliedNote(receipt)}`, {
          run: handle.id,
          decision,
          ...receipt,
        });
      }),
    );
}

function unappliedNote({ unapplied }: AnswerReceipt): string {
  return unapplied === true ? ` ${UNAPPLIED}` : '';
}

type UpdateOptions = ActorOptions & AnswerOptions;
type ApproveFlags = UpdateOptions & { readonly args?: string; readonly remember?: ApprovalScope };
type AnswerFlags = UpdateOptions & { readonly asJson?: boolean };

/** A command about something that waits for a person. */
function itemCommand(program: Command, name: string): Command {
  return withActor(program.command(name))
    .argument('<run>', 'id of the run')
    .option('--update-id <id>', 'id of the update; repeating it has no effect');
}

function updateOf({ updateId, by }: AnswerOptions): AnswerOptions {
  return defined({ updateId, by });
}

/** The waiting items as a table; ages are relative to `nowMs`. */
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
