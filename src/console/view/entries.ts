/** Puts the transcript into the views: what the model wrote, and what people sent. */
import { defined } from '../../core/base/defined.ts';
import type { Entry } from '../../core/contract/entry.ts';
import type { FormattedSection, Message, Part } from '../../core/base/message.ts';
import type { IterationView, MarkView } from './iteration-view.ts';
import { replyOf, type ReplyView } from './reply.ts';

/** `views` with the replies and inputs of `entries`, wherever they are cut. */
export function withEntries(
  views: readonly IterationView[],
  entries: readonly Entry[],
): readonly IterationView[] {
  const byIteration = new Map<number, Entry[]>();
  for (const entry of entries) {
    const known = byIteration.get(entry.iteration);
    if (known === undefined) byIteration.set(entry.iteration, [entry]);
    else known.push(entry);
  }
  return views.map((view) => {
    const mine = byIteration.get(view.number);
    return mine === undefined ? view : withOwnEntries(view, mine);
  });
}

function withOwnEntries(view: IterationView, entries: readonly Entry[]): IterationView {
  const replies = entries.filter(({ origin }) => origin === 'original');
  const inputs = entries.filter(({ origin }) => origin === 'input');
  const reply = replies.length === 0 ? undefined : replyOfEntries(replies, view.sections);
  return {
    ...view,
    marks: withInputs(view.marks, inputs),
    ...defined({ reply }),
  };
}

/** The reply in `entries`: what the assistant wrote, without calls. */
function replyOfEntries(entries: readonly Entry[], sections: readonly string[]): ReplyView {
  const parts = entries
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === 'assistant')
    .flatMap((message) => message.parts);
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return replyOf(text.join(''), reasoning.join('\n'), sections);
}

/**
 * Inputs are read in the order in which they were accepted, and what begins a turn as it begins. More
 * of them than marks: the first were accepted earlier, or brought along by a conversation.
 */
function withInputs(marks: readonly MarkView[], inputs: readonly Entry[]): readonly MarkView[] {
  const first = Math.max(0, inputs.length - marks.filter(isSaid).length);
  let next = first;
  const texts = inputs.map(({ messages }) => messages.map(messageText).join('\n'));
  const known = marks.map((mark) => {
    if (!isSaid(mark) || next >= texts.length) return mark;
    const detail = texts[next++] ?? '';
    return { ...mark, detail };
  });
  const rest = inputs.slice(0, first).map(({ index }, place): MarkView => ({
    // An input that was accepted earlier is shown where it was read; entries have no `seq`.
    seq: -1 - index,
    at: 0,
    kind: 'input',
    text: 'queue',
    detail: texts[place] ?? '',
  }));
  const added = rest.filter(({ seq }) => !marks.some((mark) => mark.seq === seq));
  return [...added, ...known];
}

function isSaid({ kind }: MarkView): boolean {
  return kind === 'input' || kind === 'said';
}

/** The text of `message`, its sections included. */
export function messageText(message: Message): string {
  return message.parts.map(partText).filter(Boolean).join('\n');
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'sections':
      return part.sections.map(sectionText).join('\n\n');
    case 'tool_call':
      return `${part.tool} ${JSON.stringify(part.args)}`;
    case 'tool_result':
      return part.parts.map(partText).join('\n');
    case 'hosted_call':
      return `${part.tool} ${JSON.stringify(part.args)}`;
    case 'hosted_result':
      return `${part.tool} ${JSON.stringify(part.output)}`;
    case 'source':
      return part.url ?? part.title ?? part.id;
    case 'media':
    case 'file':
    case 'reasoning_file':
      return `[${part.mediaType}]`;
    case 'custom':
      return `[${part.kind}]`;
  }
}

function sectionText({ name, content, children = [] }: FormattedSection): string {
  const inner = [...(content === undefined ? [] : [content]), ...children.map(sectionText)];
  return inner.length === 0 ? name : inner.join('\n');
}
