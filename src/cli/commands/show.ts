import type { Command } from 'commander';
import { readTurns, type ConversationTurn } from '../../client/turns.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import { conversationOf } from '../../core/base/ids.ts';
import type { PendingItem, RunStatus } from '../../core/contract/messages.ts';
import type { StandingApproval } from '../../core/contract/pending.ts';
import type { Step } from '../../core/contract/step.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import type { Entry } from '../../core/contract/entry.ts';
import { showResult, type CommandRunner } from '../terminal/cli.ts';
import { entryText } from '../views/fork-text.ts';
import { pendingText } from '../views/run-text.ts';
import {
  cellText,
  costText,
  durationText,
  fieldsText,
  oneLine,
  pluralText,
  tableText,
  usageText,
  valueText,
} from '../terminal/text.ts';

/** Adds `show ID`: the status of a run, or how it ended. */
export function addShowCommand(program: Command, act: CommandRunner): void {
  program
    .command('show')
    .summary('show the status of a run, or how it ended')
    .description(
      'Shows the status of a run and what it waits for, or how it ended; of a conversation, also its ' +
        'newest turns.',
    )
    .argument('<id>', 'id of the run, as `ps` shows it')
    .option('--transcript', 'also show the transcript')
    .action((id: string, options: { readonly transcript?: boolean }) =>
      showResult(
        act,
        (everloop) => readView(everloop.attach(id), options.transcript === true),
        (view, output) => output.safe(viewText(view)),
      ),
    );
}

/** The document of `show`: `step` for an ended run, `status` for one without a Step. */
export interface RunView {
  readonly id: string;
  readonly step: Step | null;
  readonly status: RunStatus | null;
  readonly pending: readonly PendingItem[];
  /** The id of its trace: see `trace`. */
  readonly traceId: string;
  /** Of a conversation, the newest turns, oldest first. */
  readonly turns?: readonly TurnView[];
  readonly transcript?: readonly Entry[];
}

/** A turn, as `show` has it: its Step is null while it goes on. */
type TurnView = Omit<ConversationTurn, 'entries' | 'events'>;

/** Turns of a conversation; as many as `ps` lists runs. */
const MAX_TURNS = 100;

/** For an ended run, only its transcript needs a worker. */
async function readView(run: RunHandle, withTranscript: boolean): Promise<RunView> {
  const { id } = run;
  const step = await stepOrNull(run);
  const status = step === null ? await run.status() : null;
  const isLive = status !== null && status.state !== 'ended';
  const pending = isLive ? await run.pending() : [];
  const transcript = withTranscript ? await run.transcript() : undefined;
  const traceId = step?.trace.traceId ?? (await run.traceId());
  const turns = conversationOf(id) === undefined ? undefined : await turnsOf(run);
  return defined({ id, step, status, pending, traceId, turns, transcript });
}

async function turnsOf(run: RunHandle): Promise<readonly TurnView[]> {
  const turns = await readTurns(run, { last: MAX_TURNS });
  return turns.map(({ entries: _entries, events: _events, ...turn }) => turn);
}

/** The Step of an ended run; null for a live one, and for one that the service closed without. */
export async function stepOrNull(run: RunHandle): Promise<Step | null> {
  try {
    return await run.step();
  } catch (error) {
    if (isUsageError(error) && error.code === 'no_step') return null;
    throw error;
  }
}

/** The view as text. */
function viewText(view: RunView): string {
  const { step, status, turns = [], transcript } = view;
  const parts = [
    ...(step === null ? [] : [stepText(view.id, step)]),
    ...(status === null ? [] : [statusText(view.id, status, view.pending)]),
    ...(turns.length === 0 ? [] : [turnsText(turns)]),
    ...(transcript ?? []).map(entryText),
  ];
  return parts.join('\n\n');
}

/** Characters of a text in the table of turns. */
const TURN_WIDTH = 40;

function turnsText(turns: readonly TurnView[]): string {
  return tableText(
    ['TURN', 'BY', 'SAID', 'ENDED', 'COST', 'ANSWER'],
    turns.map(({ number, by, text, step, expired, replaced }) => {
      const open = number === 0 ? 'brought along' : 'goes on';
      const { status = open, reason = '' } = step ?? expired ?? {};
      const ended = status === 'success' || reason === '' ? status : `${status} (${reason})`;
      const cost = step?.usage.costMicroUsd ?? expired?.costMicroUsd;
      const answer = step === null ? (expired?.answer ?? '') : answerText(step);
      return [
        String(number),
        cellText(by ?? '-'),
        oneLine(text, TURN_WIDTH),
        `${ended}${replaced === true ? ', replaced' : ''}`,
        cost === undefined ? '' : costText(cost),
        oneLine(answer, TURN_WIDTH),
      ];
    }),
  );
}

function answerText({ value, message }: Step): string {
  return value === null ? (message ?? '') : valueText(value);
}

function statusText(id: string, status: RunStatus, pending: readonly PendingItem[]): string {
  const { agent, state, iteration, usage, waitsFor, unreadInputs, link, closed, asOf } = status;
  const { approvals = [], conversation } = status;
  return fieldsText([
    ['id', id],
    ['agent', agent],
    ['state', closed === undefined ? state : `${state}: ${closed}, without a Step`],
    ...(conversation === undefined ? [] : [['turns', String(conversation.count)] as const]),
    ['used', usageText(iteration, usage)],
    ['waits for', waitsFor.join(', ') || 'nothing'],
    ['inputs', unreadInputs === 0 ? 'none unread' : `${unreadInputs} unread`],
    ['link', String(link)],
    ...(asOf === undefined ? [] : [['read', readText(asOf)] as const]),
    ...pending.map((item): [string, string] => ['pending', itemText(item)]),
    ...approvals.map((one): [string, string] => ['approved', approvalText(one)]),
  ]);
}

/** Of a run whose workers do not answer. */
function readText(asOf: number): string {
  return `from its history as of event ${asOf}: no worker answers`;
}

/** `question q1 since …: Which John?` */
function itemText(item: PendingItem): string {
  const since = `since ${dateText(item.since)}`;
  if (item.kind === 'pause') return `pause ${since}`;
  const until = item.deadline === undefined ? '' : ` until ${dateText(item.deadline)}`;
  return `${item.kind} ${item.id} ${since}${until}: ${oneLine(pendingText(item), ITEM_WIDTH)}`;
}

/** `2.1 since …: all calls of pay`, for `everloop revoke`. */
function approvalText({ id, tool, args, since, by }: StandingApproval): string {
  const what = args === undefined ? `all calls of ${tool}` : `${tool} ${JSON.stringify(args)}`;
  const who = by === undefined ? '' : ` by ${by}`;
  return `${id} since ${dateText(since)}${who}: ${oneLine(what, ITEM_WIDTH)}`;
}

/** Characters of an item; a line should fit on a wide terminal. */
const ITEM_WIDTH = 100;

function stepText(id: string, step: Step): string {
  const { agent, status, reason, message, usage, iterations, value } = step;
  const unread = step.trace.unreadInputs.length;
  return fieldsText([
    ['id', id],
    ['agent', agent],
    ['status', status],
    ['reason', reason],
    ...(message === undefined ? [] : [['message', message] as const]),
    ['used', usageText(iterations, usage)],
    ['took', durationText(usage.durationMs)],
    ...(unread === 0 ? [] : [['unread', `${pluralText(unread, 'input')} came too late`] as const]),
    ...(value === null ? [] : [['value', valueText(value)] as const]),
  ]);
}

function dateText(atMs: number): string {
  return new Date(atMs).toISOString();
}
