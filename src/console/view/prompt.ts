/** The difference between what the next model call sees and the transcript. */
import type { FormattedSection, Message, Part } from '../../core/base/message.ts';
import { messageText } from './entries.ts';

/** A message of the transcript that the next call does not see. */
export interface LeftOutMessage {
  readonly role: Message['role'];
  /** At most {@link MAX_TEXT} characters. */
  readonly text: string;
}

/** The difference of a prompt to the transcript. */
export interface PromptDifference {
  /** For each message of the prompt: whether the transcript has it. */
  readonly inTranscript: readonly boolean[];
  /** The newest {@link MAX_LEFT_OUT} of the transcript that the prompt lacks, oldest first. */
  readonly leftOut: readonly LeftOutMessage[];
  /** How many it lacks, of the messages that were compared. */
  readonly leftOutCount: number;
}

const MAX_TEXT = 2_000;
const MAX_LEFT_OUT = 50;

/** Characters of a piece that are looked for. */
const PIECE = 200;

/**
 * What `prompt` has and lacks of `transcript`. Formats write sections in their own way, so a message
 * is found by the texts of its parts, in order.
 */
export function promptDifference(
  prompt: readonly Message[],
  transcript: readonly Message[],
): PromptDifference {
  const texts = prompt.map(messageText);
  const found = prompt.map(() => false);
  const leftOut: Message[] = [];
  let next = 0;
  for (const message of transcript) {
    const pieces = message.parts.flatMap(piecesOf);
    const has = (text: string): boolean => pieces.every((piece) => text.includes(piece));
    const at = texts.findIndex(
      (text, index) => index >= next && prompt[index]?.role === message.role && has(text),
    );
    if (at === -1) {
      leftOut.push(message);
      continue;
    }
    found[at] = true;
    // A prompt may join messages: the next one may stand in the same.
    next = at;
  }
  return {
    inTranscript: found,
    leftOut: leftOut
      .slice(-MAX_LEFT_OUT)
      .map((message) => ({ role: message.role, text: messageText(message).slice(0, MAX_TEXT) })),
    leftOutCount: leftOut.length,
  };
}

function piecesOf(part: Part): readonly string[] {
  switch (part.type) {
    case 'text':
      return [part.text.trim().slice(0, PIECE)];
    case 'sections':
      return part.sections.flatMap(sectionPieces);
    case 'tool_call':
      return [part.tool];
    case 'tool_result':
      return part.parts.flatMap(piecesOf);
    default:
      return [];
  }
}

/** A format may indent or wrap what a section holds, so only its first line is looked for. */
function sectionPieces({ content, children = [] }: FormattedSection): readonly string[] {
  const [line = ''] = (content ?? '').trim().split('\n');
  return [line.trim().slice(0, PIECE), ...children.flatMap(sectionPieces)].filter(
    (piece) => piece !== '',
  );
}
