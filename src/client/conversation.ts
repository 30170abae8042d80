/**
 * A conversation with an agent, over any number of runs. Each message of the person starts a turn:
 * a run with the id `{conversation}-{n}`, whose `history` has the earlier messages. A message that
 * comes during a turn goes to its run as input.
 *
 * I1  All state is in the service. Any process can continue a conversation by its id; it reads only
 *     the newest turn.
 * I2  Concurrent messages never fork a conversation. Only one of them can take the id of the next
 *     turn; the others become inputs.
 */
import { randomUUID } from 'node:crypto';
import { defined } from '../core/base/defined.ts';
import { exchangeTurns, newestTurns } from '../core/run/exchange.ts';
import type { HistoryTurn } from '../core/contract/input.ts';
import type { Step } from '../core/contract/step.ts';
import type { JsonObject } from '../core/base/json.ts';
import { mergeSettings } from '../core/model/call-settings.ts';
import type { Task } from '../core/base/message.ts';
import { checkedNewRunId } from '../core/start/start-input.ts';
import { valueOf } from '../core/contract/stats.ts';
import { requireKnown } from '../core/text/option-names.ts';
import { shown } from '../core/text/shown.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { Everloop, StartOptions } from './everloop-client.ts';
import type { RunHandle, SendOptions } from './run-handle.ts';
import type { RunStart } from './run-tree.ts';

/** Options of a conversation. All but `id` apply to each turn from now on. */
export interface ConversationOptions extends Pick<
  StartOptions,
  'limits' | 'model' | 'settings' | 'toolChoice' | 'onEvent'
> {
  /** Continues the conversation with this id, or begins it. Default: a new `{agent}-{8 digits}`. */
  readonly id?: string;
  /** Named data for each turn. Default: the data of the previous turn. */
  readonly context?: JsonObject | Step;
  /** How many UTF-8 bytes of earlier turns a turn gets, newest first. Default 200,000. */
  readonly historyBytes?: number;
}

/** Where a message went. */
export interface SayResult {
  /** The run that got it. */
  readonly run: RunHandle;
  /** `started`: it started a new turn · `sent`: it went to the current turn. */
  readonly how: 'started' | 'sent';
}

/**
 * Of a message: the id of its repetitions, who says it, and the settings of the turn that it begins. A
 * turn that runs keeps its own.
 */
export interface SayOptions
  extends Pick<SendOptions, 'id' | 'by'>, Pick<StartOptions, 'settings' | 'toolChoice'> {}

/** A conversation with an agent. */
export interface Conversation {
  readonly id: string;
  readonly agent: string;
  /** The run of the newest turn; null before the first. */
  newest(): RunHandle | null;
  /** The conversation so far, oldest first, as the next turn would get it. */
  turns(): Promise<readonly HistoryTurn[]>;
  /**
   * Sends a message, which starts the next turn or becomes input to the current one. `options` are
   * who says it, and an id by which a repetition has no effect while its turn is the newest.
   *
   * @throws UsageError `no_worker`, or why it cannot be read, when neither a worker nor the history
   * says what the previous turn said; `service_unavailable`.
   */
  say(message: string | Task, options?: SayOptions): Promise<SayResult>;
}

/** The part of a client that a conversation uses. */
export type ConversationClient = Pick<Everloop, 'start' | 'attach' | 'list'>;

const OPTIONS: { readonly [Name in keyof ConversationOptions]-?: true } = {
  id: true,
  context: true,
  historyBytes: true,
  limits: true,
  model: true,
  settings: true,
  toolChoice: true,
  onEvent: true,
};

const SAY_OPTIONS: { readonly [Name in keyof SayOptions]-?: true } = {
  id: true,
  by: true,
  settings: true,
  toolChoice: true,
};

const DEFAULT_HISTORY_BYTES = 200_000;

/** Each failed try means that another message began a turn at the same time, which is rare. */
const SAY_TRIES = 5;

/**
 * Opens a conversation: a new one, or the one that has `id`.
 *
 * @throws UsageError `invalid_input` for an invalid id, `id_in_use` for an id of another agent.
 * @example
 * const chat = await openConversation(everloop, 'concierge', { id: 'guest-42' });
 * const { run } = await chat.say('A table for two, please.');
 * for await (const update of run.follow()) render(update);
 */
export async function openConversation(
  everloop: ConversationClient,
  agent: string,
  options: ConversationOptions = {},
): Promise<Conversation> {
  requireKnown(options, OPTIONS, 'a conversation');
  const id = checkedId(options.id ?? `${agent}-${randomUUID().slice(0, 8)}`);
  checkedNewRunId(turnId(id, 1), undefined);
  const { historyBytes = DEFAULT_HISTORY_BYTES, limits, model, onEvent } = options;
  const runOf = (turn: number): RunHandle => everloop.attach(turnId(id, turn));
  let newest = options.id === undefined ? 0 : await newestTurn(everloop, id, runOf);
  let past: Past | undefined;
  const pastOf = async (turn: number): Promise<Past> => {
    if (turn === 0) return { turn, turns: [] };
    // An ended turn no longer changes.
    if (past?.turn === turn && past.hasEnded === true) return past;
    past = { turn, ...(await readPast(runOf(turn), id, agent)) };
    return past;
  };
  if (newest > 0) await pastOf(newest);
  const startNext = async (message: string | Task, sent: SayOptions): Promise<RunHandle> => {
    const before = await pastOf(newest);
    const settings = mergeSettings(options.settings, sent.settings);
    const toolChoice = sent.toolChoice ?? options.toolChoice;
    const run = await everloop.start(agent, {
      ...defined({ task: message, messageId: sent.id, limits, model, onEvent }),
      ...defined({ settings, toolChoice, by: sent.by }),
      id: turnId(id, newest + 1),
      conversation: id,
      history: newestTurns(before.turns, historyBytes),
      ...defined({ context: options.context ?? before.context, memory: before.memory }),
    });
    newest += 1;
    return run;
  };
  return {
    id,
    agent,
    newest: () => (newest === 0 ? null : runOf(newest)),
    turns: async () => newestTurns((await pastOf(newest)).turns, historyBytes),
    say: async (message, sent = {}) => {
      requireKnown(sent, SAY_OPTIONS, '`say`');
      for (let attempt = 1; ; attempt++) {
        try {
          return await sayOnce(newest === 0 ? null : runOf(newest), message, sent, startNext);
        } catch (error) {
          const isMoved = hasCode(error, 'id_in_use') || hasCode(error, 'run_ended');
          if (!isMoved || attempt === SAY_TRIES) throw error;
          newest = await newestTurn(everloop, id, runOf);
        }
      }
    },
  };
}

/** The conversation up to and including a turn, and what the next turn takes over. */
interface Past {
  readonly turn: number;
  readonly turns: readonly HistoryTurn[];
  readonly context?: RunStart['context'];
  /** The definitions of its programs. */
  readonly memory?: Step['memory'];
  readonly hasEnded?: boolean;
}

async function readPast(run: RunHandle, id: string, agent: string): Promise<Omit<Past, 'turn'>> {
  const [start, step] = await Promise.all([run.startedWith(), run.step()]);
  if (start.agent !== agent) {
    throw new UsageError(
      'id_in_use',
      `Expected conversation \`${id}\` to be with agent \`${agent}\`, got one with \`${start.agent}\`. Choose another id.`,
    );
  }
  const { task, context, history = [] } = start;
  const hasBegun = step === null || step.iterations > 0;
  const hasAsked = step === null || valueOf(step.stats, 'agent:questions') > 0;
  const [entries, events] = await Promise.all([
    hasBegun ? run.transcript() : [],
    hasAsked ? run.events() : [],
  ]);
  const hasMemory = step !== null && Object.keys(step.memory).length > 0;
  return defined({
    turns: [...history, ...exchangeTurns({ task: task.text, step, entries, events })],
    context,
    memory: hasMemory ? step.memory : undefined,
    hasEnded: step !== null,
  });
}

/** The id of the run of a turn. */
function turnId(conversation: string, turn: number): string {
  return `${conversation}-${turn}`;
}

/** The number of the newest turn, or 0. Lists lag behind, so later turns are looked up by id. */
async function newestTurn(
  everloop: ConversationClient,
  id: string,
  runOf: (turn: number) => RunHandle,
): Promise<number> {
  const listed = await everloop.list({ idPrefix: `${id}-`, limit: MAX_LISTED });
  const numbers = listed.map((run) => Number(/^[1-9]\d*$/.exec(run.id.slice(id.length + 1))?.[0]));
  let newest = Math.max(0, ...numbers.filter((number) => Number.isSafeInteger(number)));
  while (await isThere(runOf(newest + 1))) newest += 1;
  return newest;
}

/** More than one, because ids of other runs may begin the same way. */
const MAX_LISTED = 100;

async function isThere(run: RunHandle): Promise<boolean> {
  try {
    await run.startedWith();
    return true;
  } catch (error) {
    if (hasCode(error, 'run_not_found')) return false;
    throw error;
  }
}

/** Sends a message to `run`, the newest turn, or starts the next one with it. */
async function sayOnce(
  run: RunHandle | null,
  message: string | Task,
  sent: SayOptions,
  startNext: (message: string | Task, sent: SayOptions) => Promise<RunHandle>,
): Promise<SayResult> {
  if (run !== null && (await hasBegun(run, sent.id))) return { run, how: 'started' };
  if (run === null || (await run.step()) !== null) {
    return { run: await startNext(message, sent), how: 'started' };
  }
  await sendTo(run, message, sent);
  return { run, how: 'sent' };
}

/** Whether message `id` began the turn of `run`: it is said again. */
async function hasBegun(run: RunHandle, id: string | undefined): Promise<boolean> {
  return id !== undefined && (await run.startedWith()).messageId === id;
}

async function sendTo(
  run: RunHandle,
  message: string | Task,
  { id, by }: SayOptions,
): Promise<void> {
  const { text, media }: Task = typeof message === 'string' ? { text: message } : message;
  await run.send(text, { ...defined({ id, by }), kind: 'steer', ...defined({ media }) });
}

function hasCode(error: unknown, code: UsageCode): boolean {
  return isUsageError(error) && error.code === code;
}

function checkedId(id: string): string {
  if (typeof id === 'string' && /^[\w.:@/+-]{1,200}$/.test(id)) return id;
  throw new UsageError(
    'invalid_input',
    `Expected the id of a conversation to be 1 to 200 letters, digits or any of _ . : @ / + -, got ${shown(id)}. Choose another.`,
  );
}
