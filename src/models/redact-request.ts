/** A request without what the agent's own function takes out; the transcript stays as it is. */
import { defined } from '../core/base/defined.ts';
import type { FormattedSection, Message, Part } from '../core/base/message.ts';
import type { ModelRequest } from '../core/contract/model.ts';
import { hideIn, type HideText } from '../core/text/hide.ts';
import type { RedactText } from '../define/definition/definitions.ts';
import { redactTexts } from '../tools/redact-texts.ts';

/**
 * `request` with each text of its messages as `redact` returns it: texts, sections, arguments and
 * results of calls. Reasoning and data of providers go back unchanged, since providers check them.
 */
export function redactRequest(request: ModelRequest, redact: RedactText | undefined): ModelRequest {
  if (redact === undefined) return request;
  const { messages, agent } = request;
  const texts: string[] = [];
  mapMessages(messages, (text) => {
    texts.push(text);
    return text;
  });
  const redacted = redactTexts(agent, redact, texts);
  let next = 0;
  return { ...request, messages: mapMessages(messages, () => redacted[next++] ?? '') };
}

/** Calls `change` for each text, in an order that is always the same. */
function mapMessages(messages: readonly Message[], change: HideText): readonly Message[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => mapPart(part, change)),
  }));
}

function mapPart(part: Part, change: HideText): Part {
  switch (part.type) {
    case 'text':
      return { ...part, text: change(part.text) };
    case 'sections':
      return { ...part, sections: part.sections.map((section) => mapSection(section, change)) };
    case 'tool_call':
      return { ...part, args: hideIn(part.args, change) };
    case 'hosted_call':
      return { ...part, args: hideIn(part.args, change) };
    case 'tool_result':
      return { ...part, parts: part.parts.map((inner) => mapPart(inner, change)) };
    default:
      return part;
  }
}

function mapSection(section: FormattedSection, change: HideText): FormattedSection {
  const { content, children } = section;
  return {
    ...section,
    ...defined({
      content: content === undefined ? undefined : change(content),
      children: children?.map((child) => mapSection(child, change)),
    }),
  };
}
