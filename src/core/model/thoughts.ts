/**
 * Thoughts that a server leaves in the text of a reply: `<think>…</think>` before all else. They are
 * reasoning, so nothing in them is read as a call, a section, JSON or a program.
 */
import type { ModelChunk, ModelRequest, Reply } from '../contract/model.ts';

/** How servers mark thoughts. */
const THINK = 'think';

/** How models mark them that were asked to, or learnt it from others that were. */
const ASKED_TAGS: readonly string[] = ['thinking', 'reasoning'];

/**
 * The tags that mean thoughts in the reply to `request`. A tag that the prompt or the task names is what
 * the agent asked for, such as its section `thinking`.
 */
export function thoughtTags({ messages }: Pick<ModelRequest, 'messages'>): readonly string[] {
  const task = messages.findIndex(({ role }) => role !== 'system');
  const texts = messages
    .slice(0, task === -1 ? undefined : task + 1)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
  const isAsked = (tag: string): boolean => texts.some((text) => text.includes(`<${tag}>`));
  return [THINK, ...ASKED_TAGS.filter((tag) => !isAsked(tag))];
}

/** A text, and the thoughts at its beginning. */
export interface SplitText {
  readonly thoughts: string;
  /** The rest; the same text if there are no thoughts. */
  readonly text: string;
}

/** Thoughts in a row that are looked for. */
const MAX_THOUGHTS = 16;

/**
 * `text` without the thoughts at its beginning. Thoughts that are never closed take all of it. Some
 * servers put the opening tag into the prompt, so a closing one alone ends thoughts as well.
 *
 * @example
 * splitThoughts('<think>Hm.</think>\n\nHello!', ['think']) // { thoughts: 'Hm.', text: 'Hello!' }
 */
export function splitThoughts(text: string, tags: readonly string[]): SplitText {
  const thoughts: string[] = [];
  let rest = text;
  let mayBeOpen = true;
  for (let count = 0; count < MAX_THOUGHTS; count++) {
    const found: Found | undefined =
      leadingThought(rest, tags) ?? (mayBeOpen ? closedThought(rest, tags) : undefined);
    if (found === undefined) break;
    thoughts.push(found.thought.trim());
    rest = found.rest.trimStart();
    // Only thoughts inside of thoughts leave another closing tag behind.
    mayBeOpen = found.isNested;
  }
  return thoughts.length === 0
    ? { thoughts: '', text }
    : { thoughts: thoughts.filter((thought) => thought !== '').join('\n\n'), text: rest };
}

interface Found {
  readonly thought: string;
  readonly rest: string;
  readonly isNested: boolean;
}

function leadingThought(text: string, tags: readonly string[]): Found | undefined {
  const start = text.slice(0, text.length - text.trimStart().length + MAX_TAG).trimStart();
  const tag = tags.find((one) => start.toLowerCase().startsWith(`<${one}>`));
  if (tag === undefined) return undefined;
  const body = text.trimStart().slice(tag.length + 2);
  const end = indexOfTag(body, `</${tag}>`);
  if (end === -1) return { thought: body, rest: '', isNested: false };
  const thought = body.slice(0, end);
  const isNested = indexOfTag(thought, `<${tag}>`) !== -1;
  return { thought, rest: body.slice(end + tag.length + 3), isNested };
}

/** Characters of the longest tag. */
const MAX_TAG = 12;

/** Thoughts without an opening tag. A tag that is quoted, or is in code or JSON, ends none. */
function closedThought(text: string, tags: readonly string[]): Found | undefined {
  for (const tag of tags) {
    const end = indexOfTag(text, `</${tag}>`);
    if (end === -1) continue;
    const thought = text.slice(0, end);
    const isQuoted = /[`"'\\]\s*$/.test(thought.slice(-8)) || isWithinFence(thought);
    if (isQuoted || indexOfTag(thought, `<${tag}>`) !== -1 || isJson(text)) continue;
    return { thought, rest: text.slice(end + tag.length + 3), isNested: false };
  }
  return undefined;
}

function indexOfTag(text: string, tag: string): number {
  return text.search(new RegExp(tag, 'i'));
}

function isWithinFence(text: string): boolean {
  return (text.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
}

function isJson(text: string): boolean {
  if (!/^\s*[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `reply` with the thoughts in its text as reasoning. */
export function withThoughts(reply: Reply, tags: readonly string[]): Reply {
  const firstCall = reply.parts.findIndex(({ type }) => type === 'call');
  const before = reply.parts.slice(0, firstCall === -1 ? undefined : firstCall);
  const text = before.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const split = tags.length === 0 ? { text, thoughts: '' } : splitThoughts(text, tags);
  if (split.text.length === text.length) return reply;
  let skipped = text.length - split.text.length;
  const parts: Reply['parts'][number][] = [];
  let isTold = split.thoughts === '';
  for (const part of reply.parts) {
    if (part.type !== 'text' || skipped === 0) {
      parts.push(part);
      continue;
    }
    if (!isTold) parts.push({ type: 'reasoning', text: split.thoughts });
    isTold = true;
    const rest = part.text.slice(skipped);
    skipped = Math.max(0, skipped - part.text.length);
    if (rest !== '') parts.push({ ...part, text: rest });
  }
  return { ...reply, parts };
}

/** Publishes text that streams in, with the thoughts at its beginning as reasoning. */
export interface ThoughtStream {
  readonly write: (chunk: ModelChunk) => void;
  /** Publishes what is held, because it may be the beginning of a tag. */
  readonly end: () => void;
}

/** Like {@link splitThoughts} for chunks; thoughts that have no opening tag are published as text. */
export function createThoughtStream(
  tags: readonly string[],
  publish: (chunk: ModelChunk) => void,
): ThoughtStream {
  let state: 'start' | 'thought' | 'text' = tags.length === 0 ? 'text' : 'start';
  let held = '';
  /** White space before all else, which is not read again with each chunk. */
  let blank = '';
  let closing = '';
  let hasThoughts = false;
  const say = (kind: ModelChunk['kind'], delta: string): void => {
    if (delta !== '') publish({ kind, delta });
  };
  /** Takes a step with what is held; false: more has to come. */
  const step = (): boolean => {
    if (state === 'start') {
      const begun = held.trimStart().toLowerCase();
      if (begun === '') {
        blank += held;
        held = '';
        return false;
      }
      const tag = tags.find((one) => begun.startsWith(`<${one}>`));
      if (tag !== undefined) {
        state = 'thought';
        closing = `</${tag}>`;
        hasThoughts = true;
        held = held.trimStart().slice(tag.length + 2);
        blank = '';
        return true;
      }
      if (tags.some((one) => `<${one}>`.startsWith(begun))) return false;
      state = 'text';
      held = hasThoughts ? held.trimStart() : blank + held;
      blank = '';
      return true;
    }
    const end = indexOfTag(held, closing);
    if (end === -1) {
      const kept = heldBack(held, closing);
      say('reasoning', held.slice(0, held.length - kept));
      held = held.slice(held.length - kept);
      return false;
    }
    say('reasoning', held.slice(0, end));
    held = held.slice(end + closing.length);
    state = 'start';
    return true;
  };
  return {
    write: (chunk) => {
      if (chunk.kind !== 'text' || state === 'text') return publish(chunk);
      held += chunk.delta;
      for (;;) {
        if (!step()) return;
        // `step` has changed it.
        if ((state as string) !== 'text') continue;
        say('text', held);
        held = '';
        return;
      }
    },
    end: () => {
      say(state === 'thought' ? 'reasoning' : 'text', blank + held);
      held = '';
      blank = '';
    },
  };
}

/** How much at the end of `text` may be the beginning of `tag`. */
function heldBack(text: string, tag: string): number {
  for (let count = Math.min(text.length, tag.length - 1); count > 0; count--) {
    if (tag.startsWith(text.slice(-count).toLowerCase())) return count;
  }
  return 0;
}
