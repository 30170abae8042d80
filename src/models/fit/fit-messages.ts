/**
 * Messages as the model of a request takes them. Providers refuse what another one wrote for itself,
 * what is empty, and orders that are not theirs; a refused request would end the run.
 *
 * I1  What the model of the request wrote itself goes back as it came, in its order.
 * I2  The same messages and traits give the same result, so that prompt caches hold.
 */
import { defined } from '../../core/base/defined.ts';
import { isJsonObject } from '../../core/base/json.ts';
import {
  textMessage,
  type Message,
  type Part,
  type ToolResultPart,
} from '../../core/base/message.ts';
import type { ReplyWarning } from '../../core/contract/model.ts';
import { fittedIds } from './call-ids.ts';
import { fitMedia, foreignFile, type LeaveOut } from './fit-media.ts';
import type { Traits } from './traits.ts';

/** Messages that a model takes. */
export interface FittedMessages {
  readonly messages: readonly Message[];
  /** For each of them, the newest message that it has something of. */
  readonly sources: readonly number[];
  /** What the model has not been asked without before. */
  readonly warnings: readonly ReplyWarning[];
  /** Whether the model goes on with a turn in whose beginning it has not reasoned. */
  readonly goesOnUnreasoned: boolean;
}

interface Placed {
  readonly message: Message;
  readonly source: number;
}

/** `messages` as a model with `traits` takes them. */
export function fitMessages(messages: readonly Message[], traits: Traits): FittedMessages {
  const leftOut = new Set<string>();
  const lastOwn = lastReplyOf(messages, traits);
  const ids = fittedIds(messages, traits);
  const placed = messages.flatMap((message, source): readonly Placed[] => {
    const leaveOut: LeaveOut = (what) => {
      // Before its last own reply it was told.
      if (source > lastOwn) leftOut.add(what);
    };
    return fitMedia(fitItems(message, traits, ids, leaveOut), traits, leaveOut)
      .map(withoutBlanks(traits))
      .filter(({ parts }) => parts.length > 0)
      .map((fitted) => ({ message: fitted, source }));
  });
  const ordered = fitOrder(placed, traits);
  return {
    messages: ordered.map(({ message }) => message),
    sources: ordered.map(({ source }) => source),
    warnings: [...leftOut].map((what) => ({
      code: 'item_left_out',
      message: `Model ${traits.author.model} of ${traits.author.provider} was asked without ${what}: it does not take them.`,
    })),
    goesOnUnreasoned: goesOnUnreasoned(
      ordered.map(({ message }) => message),
      traits,
    ),
  };
}

/** The index of the last message that the model wrote; -1: none. */
export function lastReplyOf(messages: readonly Message[], traits: Traits): number {
  return messages.findLastIndex(({ by }) => isBy(traits, by));
}

function isBy({ author }: Traits, by: Message['by']): boolean {
  return by?.provider === author.provider && by.model === author.model;
}

/** Items with data of a provider, for the provider that wrote them and for others. */
function fitItems(
  message: Message,
  traits: Traits,
  ids: ReadonlyMap<string, string>,
  leaveOut: LeaveOut,
): Message {
  const isOwn = message.by?.provider === traits.author.provider;
  const takesReasoning =
    isOwn && traits.reasoning === 'own' && (isBy(traits, message.by) || traits.reasons);
  const hasReasoning = message.parts.some(({ type }) => type === 'reasoning');
  // Ids of items may point to the reasoning before them.
  const keepsData = isOwn && (takesReasoning || !hasReasoning || !traits.pairsReasoning);
  const parts = message.parts.flatMap((part): readonly Part[] => {
    switch (part.type) {
      case 'text':
        return [keepsData ? part : { type: 'text', text: part.text }];
      case 'tool_call': {
        const data = isJsonObject(part.providerData) ? part.providerData['data'] : undefined;
        const kept = keepsData ? data : undefined;
        const providerData = defined({ id: ids.get(part.callId), data: kept });
        return [{ ...part, providerData }];
      }
      case 'reasoning':
      case 'reasoning_file':
        return takesReasoning ? [part] : [];
      case 'file':
        return [keepsData ? part : foreignFile(part)];
      case 'custom':
      case 'hosted_call':
      case 'hosted_result':
        if (keepsData && traits.hosted) return [part];
        leaveOut(part.type === 'custom' ? `items of kind ${part.kind}` : `calls of ${part.tool}`);
        return [];
      case 'source':
        // No protocol has a place for it: it is told by the text that it is the source of.
        return [];
      default:
        return [part];
    }
  });
  return { ...message, parts };
}

/** What a result without a word says: some servers take no empty one. */
const NOTHING = '(empty)';

/** Drops texts of white space only, and reasoning after which nothing comes. */
function withoutBlanks(traits: Traits): (message: Message) => Message {
  return (message) => {
    const worded = message.parts.flatMap((part): readonly Part[] => {
      if (part.type === 'tool_result') return [wordedResult(part)];
      if (part.type !== 'text' || part.text.trim() !== '') return [part];
      return traits.signsBlankText && part.providerData !== undefined ? [part] : [];
    });
    const parts = worded.filter(
      (part, index) => part.type !== 'reasoning' || isLed(worded.slice(index + 1), traits),
    );
    return { ...message, parts };
  };
}

function wordedResult(part: ToolResultPart): ToolResultPart {
  const parts = part.parts.filter((inner) => inner.type !== 'text' || inner.text.trim() !== '');
  return { ...part, parts: parts.length > 0 ? parts : [{ type: 'text', text: NOTHING }] };
}

/** Whether reasoning leads to one of the items `after` it. */
function isLed(after: readonly Part[], { pairsReasoning }: Traits): boolean {
  const next = after.find(({ type }) => type !== 'reasoning' && type !== 'reasoning_file');
  if (next === undefined) return false;
  // Items that the provider ran itself are not sent there as a whole.
  return !pairsReasoning || next.type === 'text' || next.type === 'tool_call';
}

/** Said by us where an order wants somebody to speak. */
const GO_ON = textMessage('user', 'Go on.');
const UNDERSTOOD = textMessage('assistant', 'Understood.');

/** Puts messages into an order that the model takes. */
function fitOrder(placed: readonly Placed[], traits: Traits): readonly Placed[] {
  const ordered: Placed[] = [];
  for (const { message: given, source } of placed) {
    const message = traits.systemFirst && given.role === 'system' ? toUser(ordered, given) : given;
    const last = ordered.at(-1);
    const before = last?.message.role;
    if (message.role === 'assistant' && traits.userFirst && isStart(before)) {
      ordered.push({ message: GO_ON, source });
    }
    const joins =
      last !== undefined &&
      before === message.role &&
      (message.role === 'assistant' || (message.role === 'user' && traits.alternates));
    if (joins) {
      ordered[ordered.length - 1] = { message: joined(last.message, message), source };
      continue;
    }
    if (message.role === 'user' && before === 'tool' && !traits.userAfterResults) {
      ordered.push({ message: UNDERSTOOD, source });
    }
    ordered.push({ message, source });
  }
  const last = ordered.at(-1);
  // No model need go on with a message of its own.
  if (last === undefined || last.message.role === 'assistant' || isStart(last.message.role)) {
    ordered.push({ message: GO_ON, source: Infinity });
  }
  return ordered;
}

function isStart(role: Message['role'] | undefined): boolean {
  return role === undefined || role === 'system';
}

/** A system message after the start is told as words of the user. */
function toUser(before: readonly Placed[], message: Message): Message {
  const isLater = before.some(({ message: { role } }) => role !== 'system');
  return isLater ? { ...message, role: 'user' } : message;
}

function joined(first: Message, second: Message): Message {
  const by = first.by ?? second.by;
  return { ...first, parts: [...first.parts, ...second.parts], ...defined({ by }) };
}

/**
 * Whether the turn that is open has calls, and the model itself did not reason before them all. Replies
 * of the model after calls of another one belong to the same turn.
 */
function goesOnUnreasoned(messages: readonly Message[], { author }: Traits): boolean {
  const start = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const turn = messages.slice(start).filter(({ role }) => role === 'assistant');
  const callers = turn.filter(({ parts }) => parts.some(({ type }) => type === 'tool_call'));
  if (callers.length === 0) return false;
  return (
    turn[0]?.parts[0]?.type !== 'reasoning' ||
    callers.some(({ by }) => by?.provider !== author.provider)
  );
}
