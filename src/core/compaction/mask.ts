/**
 * Masking: large results of old calls become one line each. The calls, errors, feedback and
 * instructions stay, so the model still sees what it did and can do it again.
 */
import { utf8Length } from '../base/json.ts';
import type { FormattedSection, Message, Part, ToolResultPart } from '../base/message.ts';
import { isPinned, type Entry } from '../contract/entry.ts';
import type { StrategySpec } from '../contract/compaction.ts';

type MaskSpec = Extract<StrategySpec, { readonly kind: 'mask' }>;

/** Which results are masked, and from which size. */
interface Mask {
  readonly minBytes: number;
  readonly tools: readonly string[];
}

/**
 * `entries` with large results of `tools` masked unless they are recent or pinned; null if there
 * are none. `tools`: the names of the agent's tools.
 */
export function maskEntries(
  entries: readonly Entry[],
  { keepRecent, minBytes, tools: wanted }: MaskSpec,
  tools: readonly string[],
): readonly Entry[] | null {
  const mask: Mask = { minBytes, tools: wanted ?? tools };
  const firstRecent = entries.length - keepRecent;
  const masked = entries.map((entry, index) =>
    index >= firstRecent || isPinned(entry) ? entry : maskEntry(entry, mask),
  );
  return masked.every((entry, index) => entry === entries[index]) ? null : masked;
}

function maskEntry(entry: Entry, mask: Mask): Entry {
  const messages = mapped(entry.messages, (message) => maskMessage(message, mask));
  return messages === entry.messages ? entry : { ...entry, origin: 'compacted_modified', messages };
}

function maskMessage(message: Message, mask: Mask): Message {
  const parts = mapped(message.parts, (part) => maskPart(part, mask));
  return parts === message.parts ? message : { ...message, parts };
}

function maskPart(part: Part, mask: Mask): Part {
  if (part.type === 'tool_result') return maskResult(part, mask);
  if (part.type !== 'sections') return part;
  const sections = mapped(part.sections, (section) => maskObservation(section, mask));
  return sections === part.sections ? part : { ...part, sections };
}

/** A native result: its texts become one, and its media are dropped. */
function maskResult(part: ToolResultPart, mask: Mask): ToolResultPart {
  if (!mask.tools.includes(part.tool)) return part;
  const texts = part.parts.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  const text = maskedText(part.tool, texts.join('\n'), mask);
  return text === null ? part : { ...part, parts: [{ type: 'text', text }] };
}

/** In an observation each result is a section with the name of its tool. */
function maskObservation(section: FormattedSection, mask: Mask): FormattedSection {
  if (section.name !== 'observation' || section.children === undefined) return section;
  const children = mapped(section.children, (child) =>
    mask.tools.includes(child.name) ? maskResultSection(child.name, child, mask) : child,
  );
  return children === section.children ? section : { ...section, children };
}

/** A result with instructions has two children; the instructions stay. */
function maskResultSection(tool: string, section: FormattedSection, mask: Mask): FormattedSection {
  if (section.children !== undefined) {
    const children = mapped(section.children, (child) =>
      child.name === 'result' ? maskResultSection(tool, child, mask) : child,
    );
    return children === section.children ? section : { ...section, children };
  }
  const content = maskedText(tool, section.content ?? '', mask);
  return content === null ? section : { ...section, content };
}

/** The line that replaces `text`; null if the text is small, masked, or no longer than it. */
function maskedText(tool: string, text: string, { minBytes }: Mask): string | null {
  const bytes = utf8Length(text);
  if (bytes < minBytes || isMasked(tool, text)) return null;
  const line = `[result of ${tool} left out, ${bytes} bytes]`;
  return utf8Length(line) < bytes ? line : null;
}

function isMasked(tool: string, text: string): boolean {
  const [head, tail] = [`[result of ${tool} left out, `, ' bytes]'];
  if (!text.startsWith(head) || !text.endsWith(tail)) return false;
  return /^\d+$/.test(text.slice(head.length, -tail.length));
}

/** `items` after `change`; the same list if no item changed. */
function mapped<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  const after = items.map(change);
  return after.every((item, index) => item === items[index]) ? items : after;
}
