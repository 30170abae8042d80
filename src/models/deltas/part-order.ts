/**
 * Streams of Gemini, of which each event has its parts in an order that its adapter keeps.
 *
 * The adapter reads the calls of an event after all else in it. So an event in which something follows
 * a call becomes several events.
 */
import { ReadableStream, TransformStream } from 'node:stream/web';
import { isPlainObject } from '../../core/base/json.ts';

/** A longer event passes in the pieces in which it comes, and with it all that follows. */
const MAX_OPEN_CHARACTERS = 4_194_304;

const EVENT_END = /\r?\n\r?\n/g;

/** `body`, of which no event has something after a call. */
export function orderedParts(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let open = '';
  let isOff = false;
  const take = (text: string): string => {
    if (isOff) return text;
    open += text;
    let passed = '';
    let start = 0;
    for (const { index, 0: end } of open.matchAll(EVENT_END)) {
      passed += splitEvent(open.slice(start, index)).join(end) + end;
      start = index + end.length;
    }
    open = open.slice(start);
    isOff = open.length > MAX_OPEN_CHARACTERS;
    return isOff ? passed + rest() : passed;
  };
  const rest = (): string => {
    const text = open;
    open = '';
    return text;
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        const passed = take(decoder.decode(bytes, { stream: true }));
        if (passed !== '') controller.enqueue(encoder.encode(passed));
      },
      flush: (controller) => {
        const passed = take(decoder.decode()) + splitEvent(rest()).join('\n\n');
        if (passed !== '') controller.enqueue(encoder.encode(passed));
      },
    }),
  );
}

const HEAD = /^data: ?/;

/** The events that one becomes; most stay as they are. */
function splitEvent(event: string): readonly string[] {
  if (!HEAD.test(event) || !event.includes('"functionCall"')) return [event];
  const value = parsed(event.replace(HEAD, ''));
  const candidates = isPlainObject(value) ? value['candidates'] : undefined;
  const [candidate] = Array.isArray(candidates) ? (candidates as readonly unknown[]) : [];
  const content = isPlainObject(candidate) ? candidate['content'] : undefined;
  const parts = isPlainObject(content) ? content['parts'] : undefined;
  if (!isPlainObject(value) || !isPlainObject(candidate) || !isPlainObject(content)) return [event];
  if (!Array.isArray(parts)) return [event];
  const groups = groupsOf(parts);
  if (groups.length < 2) return [event];
  const { usageMetadata: _usage, ...start } = value;
  const { finishReason: _reason, ...open } = candidate;
  return groups.map((group, index) => {
    const isLast = index === groups.length - 1;
    const whole = { ...(isLast ? candidate : open), content: { ...content, parts: group } };
    return `data: ${JSON.stringify({ ...(isLast ? value : start), candidates: [whole] })}`;
  });
}

/** `parts` in groups, in which calls come last. */
function groupsOf(parts: readonly unknown[]): readonly (readonly unknown[])[] {
  const groups: unknown[][] = [];
  let hasCall = true;
  for (const part of parts) {
    const isCall = isPlainObject(part) && part['functionCall'] !== undefined;
    if (hasCall && !isCall) groups.push([]);
    if (groups.length === 0) groups.push([]);
    groups.at(-1)?.push(part);
    hasCall = isCall;
  }
  return groups;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
