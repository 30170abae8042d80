/**
 * Answers that the provider cut off at its length. The model is asked to go on by a message of the user,
 * since some models refuse to continue a message of their own; what it writes is joined.
 */
import { textMessage } from '../base/message.ts';
import type { Reply, ReplyItem } from '../contract/model.ts';
import { callsOf, replyText, wasCut } from '../contract/turn.ts';
import { addUsage } from '../model/usage.ts';
import type { ModeRules } from '../modes/mode.ts';
import { leaving } from '../run/ending.ts';
import { clip } from '../text/cut.ts';
import type { Work } from './work.ts';

/** How often a model is asked to go on with one answer, unless the agent says otherwise. */
const MAX_CONTINUATIONS = 2;

/** Characters of the partial answer that the Step keeps. */
const MAX_PARTIAL = 16_384;

const GO_ON =
  'Your reply was cut off by the length limit. Go on exactly where it stopped: begin with the next character, repeat nothing, and say nothing about the cut.';

/** Whether the model is asked to go on with `reply`, which is the first of its turn. */
export function mustGoOn({ state }: Pick<Work, 'state'>, mode: ModeRules, reply: Reply): boolean {
  if (!wasCut(reply) || callsOf(reply).length > 0 || reply.unusable !== undefined) return false;
  return replyText(reply).trim() !== '' && mode.goesOn?.(state.head.spec, reply) === true;
}

/** The whole reply. Leaves the iteration if it is still cut after the last continuation. */
export async function goOn(work: Work, reply: Reply): Promise<Reply> {
  const { maxContinuations = MAX_CONTINUATIONS } = work.state.head.spec;
  let whole = reply;
  for (let count = 0; count < maxContinuations; count++) {
    const messages = [textMessage('assistant', replyText(whole)), textMessage('user', GO_ON)];
    const next = await work.ask({ conversation: true, messages });
    const isBlank = replyText(next).trim() === '' && callsOf(next).length === 0;
    if (isBlank || next.unusable !== undefined) continue;
    whole = joined(whole, next);
    if (!wasCut(whole) || callsOf(whole).length > 0) return whole;
  }
  const text = replyText(whole);
  const asked = maxContinuations === 1 ? 'once' : `${maxContinuations} times`;
  const after = maxContinuations === 0 ? '' : `, also after the model was asked ${asked} to go on`;
  throw leaving({
    kind: 'failed',
    code: 'answer_cut',
    cause: `the answer was cut off by the length limit${after}. Set \`maxOutputTokens\` of the model higher, or ask for less`,
    details: { text: clip(text, MAX_PARTIAL) },
  });
}

function joined(before: Reply, next: Reply): Reply {
  const text = joinedText(replyText(before), replyText(next));
  const others = [...before.parts, ...next.parts].filter(({ type }) => type !== 'text');
  const isCall = ({ type }: ReplyItem): boolean => type === 'call';
  const parts = [
    ...others.filter((part) => !isCall(part)),
    { type: 'text', text } as const,
    ...others.filter(isCall),
  ];
  return { ...next, parts, usage: addUsage(before.usage, next.usage) };
}

/** Characters that two texts share by more than chance. */
const SAME_CHARACTERS = 24;

/**
 * A text and its continuation. A model may begin anew instead, or repeat the last words.
 *
 * @example
 * joinedText('One, tw', 'o, three.') // 'One, two, three.'
 */
export function joinedText(before: string, next: string): string {
  if (beginsAnew(before, next)) return next;
  const longest = Math.min(before.length, next.length, 400);
  for (let count = longest; count >= SAME_CHARACTERS; count--) {
    if (before.endsWith(next.slice(0, count))) return before + next.slice(count);
  }
  return before + next;
}

function beginsAnew(before: string, next: string): boolean {
  const [old, now] = [before.trimStart(), next.trimStart()];
  const isSameStart = old.length >= 8 && now.startsWith(old.slice(0, SAME_CHARACTERS));
  // A section or a title that is written again.
  const first = /^(?:<[\w-]{1,64}>|#{1,6} [^\n]{1,200})(?=\n|$)/.exec(old)?.[0];
  return isSameStart || (first !== undefined && now.startsWith(first));
}
