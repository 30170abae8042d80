/**
 * A conversation with an agent, over as many runs as it takes: each message of the person is a turn, a
 * run of its own under `{conversation}-{n}`, whose `history` is what was said before. What is said
 * while a turn goes on is given to its run.
 *
 * - C1: all of it lives in the service: any process goes on with it by its id, from the newest turn alone.
 * - C2: two who speak at once never fork it: a turn's id is taken once, and the other becomes an input.
 */
import { randomUUID } from 'node:crypto';
import { exchangeTurns, newestTurns } from '../core/run/exchange.ts';
import type { HistoryTurn, LimitsInput } from '../core/contract/input.ts';
import type { Step } from '../core/contract/step.ts';
import type { JsonObject } from '../core/base/json.ts';
import type { Task } from '../core/base/message.ts';
import { valueOf } from '../core/contract/stats.ts';
import { shown } from '../core/text/shown.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import type { Everloop } from './everloop-client.ts';
import type { RunHandle } from './run-handle.ts';
import type { RunStart } from './started-with.ts';

/** How a conversation is opened; what runs are started with holds for each turn from now on. */
export interface ConversationOptions {
  /** Goes on with the conversation that has it, or begins it. Default: a new one, `{agent}-{8 digits}`. */
  readonly id?: string;
  /** Named data for every turn. Default: that of the turn before. */
  readonly context?: JsonObject | Step;
  /** Of each turn. */
  readonly limits?: LimitsInput;
  /** Id of a model entry that replaces the agent's own. */
  readonly model?: string;
  /** UTF-8 bytes of what a turn knows of those before it: the oldest is left out. Default 200,000. */
  readonly historyBytes?: number;
}

/** What became of a message. */
export interface Said {
  /** The run that has it. */
  readonly run: RunHandle;
  /** `started`: a new turn · `sent`: to the turn that goes on. */
  readonly how: 'started' | 'sent';
}

/** A conversation with an agent. */
export interface Conversation {
  readonly id: string;
  readonly agent: string;
  /** The run of the newest turn, alive or ended; null before the first. */
  newest(): RunHandle | null;
  /** What was said so far, oldest first, as far as a next turn would know it. */
  turns(): Promise<readonly HistoryTurn[]>;
  /**
   * Says something: starts the next turn, or gives it to the one that goes on.
   *
   * @throws UsageError `no_worker` when the turn before had a conversation of its own that nobody can tell.
   */
  say(message: string | Task): Promise<Said>;
}

/** What a conversation asks of a client. */
export type ConversationClient = Pick<Everloop, 'start' | 'attach' | 'list'>;

const DEFAULT_HISTORY_BYTES = 200_000;

/** Those who speak at once are few; each try is a turn that somebody else began. */
const SAY_TRIES = 5;

/**
 * Opens a conversation: a new one, or the one that has `id`.
 *
 * @throws UsageError `invalid_input` for what cannot be an id, `id_in_use` for that of another agent.
 * @example
 * const chat = await openConversation(everloop, 'concierge', { id: 'guest-42' });
 * const { run } = await chat.say('A table for two, please.');
 * for await (const news of run.follow()) render(news);
 */
export async function openConversation(
  everloop: ConversationClient,
  agent: string,
  options: ConversationOptions = {},
): Promise<Conversation> {
  const id = checkedId(options.id ?? `${agent}-${randomUUID().slice(0, 8)}`);
  const { historyBytes = DEFAULT_HISTORY_BYTES, limits, model } = options;
  const runOf = (turn: number): RunHandle => everloop.attach(`${id}-${turn}`);
  let newest = options.id === undefined ? 0 : await newestTurn(everloop, id, runOf);
  let past: Past | undefined;
  const pastOf = async (turn: number): Promise<Past> => {
    if (turn === 0) return { turn, turns: [] };
    // An ended turn says the same each time.
    if (past?.turn === turn && past.hasEnded === true) return past;
    past = { turn, ...(await readPast(runOf(turn), id, agent)) };
    return past;
  };
  if (newest > 0) await pastOf(newest);
  const startNext = async (message: string | Task): Promise<RunHandle> => {
    const before = await pastOf(newest);
    const context = options.context ?? before.context;
    const run = await everloop.start(agent, {
      task: message,
      id: `${id}-${newest + 1}`,
      history: newestTurns(before.turns, historyBytes),
      ...(context === undefined ? {} : { context }),
      ...(before.memory === undefined ? {} : { memory: before.memory }),
      ...(limits === undefined ? {} : { limits }),
      ...(model === undefined ? {} : { model }),
    });
    newest += 1;
    return run;
  };
  return {
    id,
    agent,
    newest: () => (newest === 0 ? null : runOf(newest)),
    turns: async () => newestTurns((await pastOf(newest)).turns, historyBytes),
    say: async (message) => {
      for (let attempt = 1; ; attempt++) {
        try {
          const run = newest === 0 ? null : runOf(newest);
          if (run === null || (await run.step()) !== null) {
            return { run: await startNext(message), how: 'started' };
          }
          await sendTo(run, message);
          return { run, how: 'sent' };
        } catch (error) {
          const isMoved = hasCode(error, 'id_in_use') || hasCode(error, 'run_ended');
          if (!isMoved || attempt === SAY_TRIES) throw error;
          newest = await newestTurn(everloop, id, runOf);
        }
      }
    },
  };
}

/** What was said up to the end of a turn, and what the next one takes over. */
interface Past {
  readonly turn: number;
  readonly turns: readonly HistoryTurn[];
  readonly context?: RunStart['context'];
  /** What its programs defined. */
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
  return {
    turns: [...history, ...exchangeTurns({ task: task.text, step, entries, events })],
    ...(context === undefined ? {} : { context }),
    ...(step === null || Object.keys(step.memory).length === 0 ? {} : { memory: step.memory }),
    hasEnded: step !== null,
  };
}

/** The number of the newest turn, 0 when there is none. Lists lag, so what may have come is looked for. */
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

/** Newest first: others, whose ids only begin alike, may stand between. */
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

async function sendTo(run: RunHandle, message: string | Task): Promise<void> {
  const { text, media }: Task = typeof message === 'string' ? { text: message } : message;
  await run.send(text, { kind: 'steer', ...(media === undefined ? {} : { media }) });
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
