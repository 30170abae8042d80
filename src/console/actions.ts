/**
 * Actions: each happens once for its `requestId`, and leaves one line in the log.
 *
 * I1  A repeated `requestId` gets the first answer again, and nothing happens a second time; with
 *     another body it is refused. A failed action may be repeated.
 * I2  A line of the log has who, what and the outcome, and no contents.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { errorText } from '../core/base/error-text.ts';
import { clip } from '../core/text/cut.ts';
import type { Asker } from './access.ts';
import type { ActionAnswer } from './api-actions.ts';
import { ANSWER_MS, within } from './bounded-reads.ts';
import { apiErrorOf, invalid, ConsoleRefusal } from './refusal.ts';

/** One line of the log of actions. */
export interface ActionLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly role: Asker['role'];
  /** Null: nobody names who acts. */
  readonly user: string | null;
  /**
   * `start`, `send`, `pause`, `resume`, `cancel`, `adjust`, `answer`, `decide`, `say`, `fork`;
   * `pause_schedule`, `resume_schedule`, `trigger_schedule`, `delete_schedule`; `set_tenant`.
   */
  readonly action: string;
  /**
   * Id of the run or the schedule; the tenant; of a start that failed, the agent; of a message that
   * failed, its conversation. At most 1,000 characters.
   */
  readonly run: string;
  /** `done`, or the code of the error. */
  readonly outcome: string;
}

/** An action that somebody asks for. */
export interface ActionOrder {
  readonly name: string;
  readonly asker: Asker;
  /** Id of the run or the schedule, or the tenant; of a start, the agent. */
  readonly run: string;
  readonly body: { readonly [name: string]: unknown };
}

/** Carries out actions, each once. */
export type PerformAction = (
  order: ActionOrder,
  work: (requestId: string) => Promise<Omit<ActionAnswer, 'requestId'>>,
) => Promise<ActionAnswer>;

const REQUEST_ID = /^[A-Za-z0-9_-]{8,100}$/;

/** Requests that are remembered. The client's own ids hold for longer. */
const MAX_REMEMBERED = 1_000;

/** Characters of a name in a line: that of an agent is read from a body. */
const MAX_NAME = 1_000;

interface Remembered {
  readonly digest: string;
  readonly answer: Promise<ActionAnswer>;
}

/** Actions of one console, with a line to `log` for each. */
export function createActions(log: (line: ActionLine) => void): PerformAction {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const perform = async (
    { name, asker, run }: ActionOrder,
    work: () => Promise<ActionAnswer>,
  ): Promise<ActionAnswer> => {
    const note = (outcome: string, of = run): void =>
      log({ at: Date.now(), ...asker, action: name, run: clip(of, MAX_NAME), outcome });
    try {
      const answer = await work();
      note('done', answer.run);
      return answer;
    } catch (error) {
      note(apiErrorOf(error).code);
      throw error;
    }
  };
  return (order, work) => {
    const { name, run, body } = order;
    const requestId = requestIdOf(body['requestId']);
    const key = `${name} ${run} ${requestId}`;
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const known = remembered.get(key);
    if (known !== undefined) {
      if (known.digest === digest) return within(ANSWER_MS, known.answer, UNDECIDED);
      throw new ConsoleRefusal(
        'conflict',
        'Expected another `requestId` for another request, got one that was used. Choose a new one.',
      );
    }
    const answer = perform(order, async () => ({ ...(await work(requestId)), requestId }));
    remembered.set(key, { digest, answer });
    answer.catch(() => remembered.delete(key));
    return within(ANSWER_MS, answer, UNDECIDED);
  };
}

const UNDECIDED =
  'Expected the run to take this in time, got silence. It may still take it: send it again under the same `requestId` to learn that.';

function requestIdOf(value: unknown): string {
  if (typeof value === 'string' && REQUEST_ID.test(value)) return value;
  throw invalid(
    'Expected `requestId` to be 8 to 100 letters, digits, `-` or `_`. Choose one for each click.',
  );
}

/** `error` of `answer` or `decide`, as a conflict if somebody else was first. */
export function settledFirst(error: unknown): unknown {
  const isSettled = apiErrorOf(error).code === 'item_settled';
  return isSettled ? new ConsoleRefusal('conflict', errorText(error)) : error;
}
