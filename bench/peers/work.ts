/**
 * The work that every side does: the same model and the same tool, in the side's own process.
 *
 * An agent asks the model until it answers without a call. Each reply calls the tool `read`; its
 * result is text. Both note what they do in a file, with the time, so that the main process can see
 * how long a turn took, what went on after a kill, and what happened twice.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** One run of an agent. */
export interface Order {
  readonly id: string;
  /** Replies that call the tool; one more reply ends the run. */
  readonly turns: number;
  /** Bytes of the conversation before the first reply. */
  readonly chatBytes: number;
  /** Bytes of each result of the tool. */
  readonly resultBytes: number;
  /** How long the model thinks. */
  readonly modelMs: number;
  /** How long the tool still works after its effect. */
  readonly toolMs: number;
}

/** Arguments of the tool. */
export interface ReadArgs {
  readonly run: string;
  readonly part: number;
  readonly bytes: number;
  readonly ms: number;
}

/** A reply of the model; without a call, it is the answer. */
export interface Reply {
  readonly text: string;
  readonly call?: { readonly id: string; readonly args: ReadArgs };
}

/** A message of a conversation, as the sides keep it that have no form of their own. */
export interface ChatMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly call?: Reply['call'];
}

/** Thinks for `modelMs`, then calls the tool in turns 1 to `turns`, and answers after them. */
export async function askModel(order: Order, turn: number): Promise<Reply> {
  note('ask', order.id, turn);
  if (order.modelMs > 0) await sleep(order.modelMs);
  if (turn > order.turns) return { text: 'done' };
  const { id: run, resultBytes: bytes, toolMs: ms } = order;
  const text = `Reads part ${turn}, since the parts before it did not answer the question.`;
  return { text, call: { id: `call-${turn}`, args: { run, part: turn, bytes, ms } } };
}

/** Has an effect that can be counted, then works for `ms`, and returns so many bytes. */
export async function readPart({ run, part, bytes, ms }: ReadArgs): Promise<string> {
  note('effect', run, part);
  if (ms > 0) await sleep(ms);
  return 'r'.repeat(bytes);
}

/** The conversation before the first reply: turns of 4 KB, or one short question. */
export function chatOf({ chatBytes }: Order): readonly ChatMessage[] {
  const count = Math.ceil(chatBytes / 4_000);
  const earlier = Array.from({ length: count }, (_, place) => ({
    role: place % 2 === 0 ? ('user' as const) : ('assistant' as const),
    text: 'It was said before. '.repeat(200),
  }));
  return [...earlier, { role: 'user', text: 'Read the parts until you know it.' }];
}

function note(kind: 'ask' | 'effect', run: string, turn: number): void {
  const file = process.env['PEERS_NOTES'];
  if (file === undefined) throw new Error('Expected PEERS_NOTES to name a file, got nothing.');
  const at = performance.timeOrigin + performance.now();
  appendFileSync(file, `${kind} ${run} ${turn} ${at.toFixed(1)}\n`);
}
