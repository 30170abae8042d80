/**
 * Joins adjacent pieces of a reply in the text of a stream: many events become one event with all
 * of their text.
 *
 * I1  An event joins another only if both are equal around their texts, so that the joined event
 *     means what both meant. All else passes as it came, in order.
 * I2  What is held is bounded, and so is what is tried with a stream that has nothing to join.
 */
import type { ModelChunk } from '../../core/contract/model.ts';
import { createCallStarts } from './call-starts.ts';
import { cutAt, cutEvent, type CutEvent, type DeltaProtocol } from './delta-shape.ts';

/** Joins the pieces of one stream. */
export interface DeltaJoiner {
  /** Takes what came; gives what has to be passed on at once. The rest is held. */
  readonly take: (text: string) => string;
  /** Gives what is held. An event that is not complete stays, unless this is the `end`. */
  readonly flush: (end?: 'end') => string;
  /** The kind of what is held; undefined: nothing. What has not come whole does not count. */
  readonly held: () => ModelChunk['kind'] | undefined;
}

/** The longest text of a joined event, in characters of JSON. */
const MAX_JOINED_CHARACTERS = 65_536;

/** A longer event passes in the pieces in which it comes, and with it all that follows. */
const MAX_OPEN_CHARACTERS = 262_144;

/** A stream in which so many pieces in a row found no other is passed on as it is. */
const MAX_MISSES = 64;

/** Events that are held, as one. */
interface Held {
  readonly cut: CutEvent;
  readonly before: string;
  readonly after: string;
  readonly bodies: string[];
  characters: number;
  /** Whether the arguments of a call may be complete. */
  mayBeWhole: boolean;
}

/** A joiner for a stream of `protocol`; `onDelta` gets each piece at once. */
export function createDeltaJoiner(
  protocol: DeltaProtocol,
  onDelta: (chunk: ModelChunk) => void,
): DeltaJoiner {
  let open = '';
  let held: Held | undefined;
  let misses = 0;
  let isOff = false;
  const calls = protocol === 'chat' ? createCallStarts() : undefined;

  const release = (): string => {
    if (held === undefined) return '';
    const { cut, bodies } = held;
    held = undefined;
    return `${cut.before}${bodies.join('')}${cut.after}${EVENT_END}`;
  };
  const joins = (event: string): boolean => {
    if (held === undefined || held.mayBeWhole) return false;
    const { delta } = held.cut;
    const next = cutAt(event, delta.field);
    if (next === undefined || held.characters + next.body.length > MAX_JOINED_CHARACTERS) {
      return false;
    }
    if (comparable(next.before) !== held.before || comparable(next.after) !== held.after) {
      return false;
    }
    const text = textOf(next.body);
    if (text === undefined) return false;
    held.bodies.push(next.body);
    held.characters += next.body.length;
    held.mayBeWhole = calls?.mayBeWhole(delta, text) ?? false;
    misses = 0;
    onDelta({ kind: delta.kind, delta: text });
    return true;
  };
  const takeEvent = (event: string): string => {
    if (isOff) return event + EVENT_END;
    if (joins(event)) return '';
    const before = release();
    const { value, cut } = cutEvent(protocol, event);
    calls?.see(value);
    if (cut === undefined) return before + event + EVENT_END;
    misses += 1;
    if (misses > MAX_MISSES) {
      isOff = true;
      return before + event + EVENT_END;
    }
    const { delta, body } = cut;
    held = {
      cut,
      before: comparable(cut.before),
      after: comparable(cut.after),
      bodies: [body],
      characters: body.length,
      mayBeWhole: calls?.mayBeWhole(delta, delta.text) ?? false,
    };
    onDelta({ kind: delta.kind, delta: delta.text });
    return before;
  };
  const giveUp = (): string => {
    isOff = true;
    const rest = release() + open;
    open = '';
    return rest;
  };
  return {
    take: (text) => {
      if (isOff && open === '') return text;
      open += text;
      // Lines that end otherwise are allowed, and rare.
      if (isOff || text.includes('\r')) return giveUp();
      let passed = '';
      let start = 0;
      for (;;) {
        const end = open.indexOf(EVENT_END, start);
        if (end === -1) break;
        passed += takeEvent(open.slice(start, end));
        start = end + EVENT_END.length;
      }
      open = open.slice(start);
      return open.length > MAX_OPEN_CHARACTERS ? passed + giveUp() : passed;
    },
    flush: (end) => (end === 'end' ? giveUp() : release()),
    held: () => held?.cut.delta.kind,
  };
}

/** The end of an event: an empty line. */
const EVENT_END = '\n\n';

/**
 * `part` without what differs between pieces and says nothing: numbers of events and padding (of
 * OpenAI a field, of Anthropic spaces). A string of JSON has no bare quote, so nothing of a string is
 * taken for it.
 */
function comparable(part: string): string {
  return part
    .replace(/"sequence_number": ?\d+/, '"sequence_number":0')
    .replace(/"obfuscation": ?"[A-Za-z0-9]*"/, '"obfuscation":""')
    .replace(/\s+\}$/, '}');
}

function textOf(body: string): string | undefined {
  if (!body.includes('\\')) return body;
  try {
    return JSON.parse(`"${body}"`) as string;
  } catch {
    return undefined;
  }
}
