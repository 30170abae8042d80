/** Messages of modes without sections: everything that is said to the model is plain text. */
import { xmlFormat } from '../format/xml.ts';
import type {
  FormattedSection,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../base/message.ts';
import type { InputContent } from './mode.ts';
import { messageOf } from './observation.ts';

/** Text as a part. */
export function textPart(text: string): Extract<Part, { readonly type: 'text' }> {
  return { type: 'text', text };
}

/** Text as parts of a message: none if it is empty. */
export function textParts(text: string): readonly Part[] {
  return text === '' ? [] : [textPart(text)];
}

/** The result of a native call. */
export function resultPart(
  { callId, tool }: Pick<ToolCallPart, 'callId' | 'tool'>,
  text: string,
  isError: boolean,
): ToolResultPart {
  return { type: 'tool_result', callId, tool, parts: [textPart(text)], isError };
}

/** The messages of an input as they were written. */
export function plainInput({ text, media }: InputContent): readonly Message[] {
  return messageOf('user', [...textParts(text), ...(media ?? [])]);
}

/** Feedback is plain text here, since these modes have no sections. */
export function plainParts(feedback: readonly FormattedSection[]): readonly Part[] {
  return feedback.length === 0 ? [] : [textPart(plainText(feedback))];
}

/** Sections as text: their contents, or with children as tags. */
export function plainText(sections: readonly FormattedSection[]): string {
  const isPlain = sections.every((section) => section.children === undefined);
  return isPlain
    ? sections.map((section) => section.content ?? '').join('\n\n')
    : xmlFormat().format(sections);
}

/** Messages with sections, such as a summary, as text; reasoning goes back to the provider. */
export function plainMessages(messages: readonly Message[]): readonly Message[] {
  return messages.map(({ parts, ...same }) => ({
    ...same,
    parts: parts.flatMap((part) => (part.type === 'sections' ? plainParts(part.sections) : [part])),
  }));
}
