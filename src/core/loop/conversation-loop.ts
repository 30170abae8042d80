/**
 * The loop of a conversation: turn after turn in one run. Each turn runs as any run does, up to an
 * ending, which ends the turn and not the run.
 *
 * C1  A turn begins with the oldest message that waits. What else waits then is read by that turn, up
 *     to a message that replaces an earlier one.
 * C2  The definition is loaded anew for each turn, and recorded if it has changed.
 * C3  A turn that fails, is canceled or reaches a limit costs itself: the conversation waits on.
 * C4  Between turns nothing is in flight: there, too, the run hands over, and ends when it was closed,
 *     canceled, or left alone for too long. What was said before that is answered first.
 */
import { defined } from '../base/defined.ts';
import { errorText } from '../base/error-text.ts';
import { totalsOf } from '../tree/child-totals.ts';
import { afterTurn, limitsOfTurn } from '../conversation/records.ts';
import type { ConversationState, TurnRecord, TurnSettings } from '../contract/conversation.ts';
import type { Message } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { Lease } from '../contract/lease.ts';
import type { Numbers } from '../contract/stats.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { StepTrace } from '../contract/step.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { applyLimits } from '../limits/limits-input.ts';
import { modeOf } from '../modes/modes.ts';
import type { Ending } from '../run/ending.ts';
import type { WaitingMessage } from '../run/inbox.ts';
import { MAX_TIMER_MS, type Run } from '../run/run.ts';
import { stepOf } from '../run/step-of.ts';
import { fitEnding } from '../run/step-size.ts';
import {
  begin,
  cancelEnding,
  finish,
  handOver,
  isFresh,
  runToEnding,
  type LoopEnd,
  type Opening,
} from './loop.ts';
import { isTaskOf, scratchpadBefore, turnState, type Rewound } from './turn-state.ts';
import type { Next } from './work.ts';

/** What a turn of a conversation begins with, as a worker has loaded it. */
export interface LoadedTurn extends Opening {
  /** Absent: the definition is the one of the turn before. */
  readonly spec?: AgentSpec;
  /** What the message says, after templates and checks. */
  readonly material: Pick<TranscriptHead, 'task' | 'context' | 'contextDescriptions'>;
  readonly leases?: readonly Lease[];
  readonly hasTurn?: true;
}

/** What a conversation needs of its host beside what each run needs. */
export interface ConversationPort {
  /**
   * Loads the agent for a message, and waits for the turn among the runs of its tenant; or says why the
   * turn cannot begin. Null: it was canceled meanwhile.
   */
  load(message: WaitingMessage, settings: TurnSettings): Promise<LoadedTurn | TurnFailure | null>;
  /** The scratchpad as it was before event `seq`, from the history; null: it cannot be had. */
  rewind(seq: number): Promise<readonly Entry[] | null>;
  /** A turn has ended, with these totals. */
  left(totals: Numbers): Promise<void>;
  /** Where the run is, for the Step of a turn. */
  trace(): StepTrace;
}

/** Why a turn could not begin. */
export interface TurnFailure {
  readonly code: string;
  readonly failure: string;
}

/** The first message of a conversation, whose agent was loaded with the run. */
export interface FirstMessage {
  readonly message: WaitingMessage;
  readonly opening: Opening;
  /** What the conversation brings along. */
  readonly earlier: readonly Message[];
}

/** Runs the conversation of `run` until it ends or hands over. Never throws. */
export async function runConversation(
  run: Run,
  loopOf: (spec: AgentSpec) => Next,
  port: ConversationPort,
  first?: FirstMessage,
): Promise<LoopEnd> {
  try {
    const isNew = isFresh(run.state);
    if (isNew) begin(run);
    let opening: Opening | undefined;
    if (first !== undefined) {
      opening = first.opening;
      if (first.earlier.length > 0) {
        run.append({ iteration: 0, origin: 'input', messages: first.earlier }, 'both');
      }
      beginTurn(run, first.message, { limits: run.state.limits, ...firstShare(run.state) });
    }
    if (isNew && turnsOf(run).isOpen && first === undefined) {
      // The execution from which it goes on was ended by force.
      await endTurn(run, port, { kind: 'canceled', reason: 'canceled', message: 'terminated' });
    }
    for (;;) {
      if (turnsOf(run).isOpen) {
        const left = await runToEnding(run, loopOf(run.state.head.spec), opening);
        if (left.kind === 'handover') return left;
        await endTurn(run, port, left.ending);
      }
      const next = await nextMessage(run);
      if (next === 'handover') return handOver(run);
      if ('ending' in next) return finish(run, next.ending);
      opening = await loadTurn(run, port, next.message);
    }
  } catch (error) {
    return finish(run, { kind: 'error', code: 'internal', cause: errorText(error) });
  }
}

/** What the ledger of a tenant has granted the first turn. */
function firstShare({ leases, hasTurn }: Run['state']): Pick<Plan, 'leases' | 'hasTurn'> {
  return defined({ leases, hasTurn });
}

function turnsOf({ state: { turns } }: Run): ConversationState {
  if (turns === undefined) throw new Error('Expected a conversation.');
  return turns;
}

/** The next message, or what comes instead of one (C4). */
async function nextMessage(
  run: Run,
): Promise<{ readonly message: WaitingMessage } | { readonly ending: Ending } | 'handover'> {
  const { host } = run;
  const { mailbox, link } = host;
  const { idleSince, idleMs } = turnsOf(run);
  link.probe?.boundary(run.state);
  const idleAt = (idleSince ?? host.now()) + idleMs;
  for (;;) {
    const { cancel, closing, messages = [] } = mailbox.peek();
    if (cancel !== null) {
      if (cancel.turn === undefined) return { ending: cancelEnding(run, cancel) };
      mailbox.endTurn();
      continue;
    }
    if (link.isHandoverDue() && link.fits(run.state)) return 'handover';
    if (messages.length > 0) {
      const message = mailbox.takeMessage();
      if (message !== undefined) return { message };
    }
    if (closing !== undefined) return { ending: closed('closed') };
    if (host.now() >= idleAt) return { ending: closed('idle') };
    const isOver = (): boolean => {
      const now = mailbox.peek();
      const isSaid = now.cancel !== null || now.closing !== undefined || now.messages?.[0];
      return Boolean(isSaid) || (link.isHandoverDue() && link.fits(run.state));
    };
    await host.waits.until(isOver, Math.min(idleAt, host.now() + MAX_TIMER_MS));
  }
}

function closed(reason: 'closed' | 'idle'): Ending {
  return { kind: 'success', value: null, reason };
}

/** Loads what the turn of `message` needs, and begins it; or begins and ends it, if it cannot run. */
async function loadTurn(
  run: Run,
  port: ConversationPort,
  message: WaitingMessage,
): Promise<Opening | undefined> {
  const { limits } = run.state.head.spec;
  const fail = async (code: string, cause: string, isRead = false): Promise<undefined> => {
    beginTurn(run, message, { limits, isUnread: !isRead });
    await endTurn(run, port, { kind: 'error', code, cause });
  };
  if (message.agent !== undefined) {
    const { name } = run.state.head.spec;
    return fail(
      'id_in_use',
      `Expected a message for agent \`${name}\`, got one for \`${message.agent}\`. Choose another id for that conversation.`,
    );
  }
  const replaced = replacedBy(run, message);
  if (replaced === null) {
    return fail(
      'invalid_input',
      `Expected \`instead\` to be a message that began a turn which the conversation still knows, got \`${message.instead}\`. Fork the conversation instead.`,
    );
  }
  const loaded = await port.load(message, message.turn ?? {});
  if (loaded === null) {
    const { cancel } = run.host.mailbox.peek();
    beginTurn(run, message, { limits });
    const ending: Ending =
      cancel === null
        ? { kind: 'canceled', reason: 'canceled', message: 'canceled before the turn began' }
        : cancelEnding(run, cancel);
    await endTurn(run, port, ending);
    return undefined;
  }
  if ('failure' in loaded) return fail(loaded.code, loaded.failure, true);
  const rewound = replaced === undefined ? undefined : await rewoundTo(run, port, replaced);
  if (rewound === null) {
    return fail(
      'history_gone',
      'Expected the history of the turn that the message replaces, got none. Fork the conversation instead.',
    );
  }
  beginTurn(run, message, { ...turnPlan(run, { message, loaded, rewound }), rewound });
  return { warnings: loaded.warnings, ...defined({ refusal: loaded.refusal }) };
}

/** The turn that `message` replaces first; undefined: none; null: it is not known. */
function replacedBy(run: Run, { instead }: WaitingMessage): TurnRecord | undefined | null {
  if (instead === undefined) return undefined;
  const found = turnsOf(run).recent.findLast(({ messageId }) => messageId === instead);
  return found ?? null;
}

async function rewoundTo(
  run: Run,
  port: ConversationPort,
  from: TurnRecord,
): Promise<Rewound | null> {
  const scratchpad = scratchpadBefore(run.state, from) ?? (await port.rewind(from.seq));
  return scratchpad === null ? null : { from, scratchpad };
}

interface Plan extends Pick<LoadedTurn, 'leases' | 'hasTurn'> {
  readonly limits: Run['state']['limits'];
  readonly head?: TranscriptHead | undefined;
  readonly rewound?: Rewound | undefined;
  /** The message does not become part of the transcript. */
  readonly isUnread?: boolean;
}

interface Loaded {
  readonly message: WaitingMessage;
  readonly loaded: LoadedTurn;
  readonly rewound: Rewound | undefined;
}

function turnPlan(run: Run, { message, loaded, rewound }: Loaded): Plan {
  const { head, turns } = run.state;
  const { turn = {} } = message;
  const { spec = head.spec, material, leases, hasTurn } = loaded;
  const { context, contextDescriptions } = material;
  const isTask = rewound?.from.isTask === true;
  const isNew =
    loaded.spec !== undefined ||
    isTask ||
    (turn.context !== undefined && JSON.stringify(context) !== JSON.stringify(head.context));
  const told = isTask ? withNote(material.task, effectsNote(turns, rewound)) : head.task;
  const total = applyLimits([], turn.totalLimits);
  return {
    limits: turns === undefined ? spec.limits : limitsOfTurn(spec.limits, total, turns.ended),
    ...defined({ leases, hasTurn }),
    head: isNew
      ? { ...head, spec, task: told, ...defined({ context, contextDescriptions }) }
      : undefined,
  };
}

function withNote(task: TranscriptHead['task'], note: string): TranscriptHead['task'] {
  return note === '' ? task : { ...task, text: `${task.text}\n\n${note}` };
}

/**
 * Records that `message` begins a turn, and what it says. The first message, and one that replaces it,
 * is the task of the run.
 */
function beginTurn(run: Run, message: WaitingMessage, plan: Plan): void {
  const { id: messageId, text, media = [], by, instead } = message;
  const turns = turnsOf(run);
  const { count } = turns;
  const { rewound, isUnread = false } = plan;
  const isTask = isTaskOf(run.state, rewound) === true;
  const at = run.host.now();
  const begun = turnState(run.state, { messageId, by, text, at, ...plan });
  const event = { type: 'agent:turn:before', turn: count + 1, messageId } as const;
  run.record({ ...event, limits: plan.limits, ...defined({ by, instead }) }, { begun });
  const mode = modeOf(run.state.head.spec);
  const note = effectsNote(turns, rewound);
  const messages = [
    ...mode.inputMessages({ text, media }),
    ...(note === '' ? [] : mode.inputMessages({ text: note })),
  ];
  const entry = { iteration: run.state.iteration, origin: 'input', messages } as const;
  run.append(entry, isTask || isUnread ? 'history' : 'both');
}

/** What the model must know of the turns that it no longer sees. */
function effectsNote(turns: ConversationState | undefined, rewound: Rewound | undefined): string {
  const from = rewound?.from.number ?? Infinity;
  const replaced = turns?.recent.filter(({ number }) => number >= from) ?? [];
  const effects = replaced.flatMap(({ effects: calls = [] }) => calls);
  if (effects.length === 0) return '';
  return `[This message replaces earlier ones, and so what followed them. These calls were made then, and took effect: ${effects.join(', ')}.]`;
}

/** Records the end of the open turn with its Step. */
async function endTurn(run: Run, port: ConversationPort, wanted: Ending): Promise<void> {
  const { state, host } = run;
  const turns = turnsOf(run);
  const ending = fitEnding(state, wanted, host.link.sizes.step);
  const step = stepOf(state, ending, port.trace(), state.stats);
  host.mailbox.endTurn();
  run.record(
    { type: 'agent:turn:after', turn: turns.count, step },
    { turns: afterTurn(turns, step, host.now()) },
  );
  await port.left(totalsOf(state.stats));
}
