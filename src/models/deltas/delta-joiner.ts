/**
 * Joins adjacent pieces of a reply in the text of a stream: many events become one event with all
 * of their text.
 *
 * I1  An event joins another only if both are equal around their texts, so that the joined event
 *     means what both meant. All else passes as it came, in order.
 * I2  What is held is bounded, and so is what is tried with a stream that has nothing to join.
 */
import type { ModelChunk } from '../../core/contract/model.ts';
import { createCallStarts, type CallStarts } from './call-starts.ts';
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

/** A joiner for a stream of `protocol`; `onDelta` gets each piece at once. */
export function createDeltaJoiner(
  protocol: DeltaProtocol,
  onDelta: (chunk: ModelChunk) => void,
): DeltaJoiner {
  const calls = protocol === 'chat' ? createCallStarts() : undefined;
  const pieces = createHeldPieces(calls, onDelta);
  let open = '';
  let misses = 0;
  let isOff = false;

  const takeEvent = (event: string): string => {
    if (!isOff && pieces.join(event)) {
      misses = 0;
      return '';
    }
    const before = pieces.release();
    if (isOff) return before + event + EVENT_END;
    const { value, cut } = cutEvent(protocol, event);
    calls?.see(value);
    if (cut !== undefined) misses += 1;
    isOff = misses > MAX_MISSES;
    if (cut === undefined || isOff) return before + event + EVENT_END;
    pieces.hold(cut);
    return before;
  };
  const giveUp = (): string => {
    isOff = true;
    const rest = pieces.release() + open;
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
    flush: (end) => (end === 'end' ? giveUp() : pieces.release()),
    held: pieces.kind,
  };
}

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

/** The events that a joiner holds. */
interface HeldPieces {
  /** Adds an event, if it is as those that are held. */
  readonly join: (event: string) => boolean;
  /** Begins with an event. */
  readonly hold: (cut: CutEvent) => void;
  /** Gives all as one event; empty if nothing is held. */
  readonly release: () => string;
  readonly kind: () => ModelChunk['kind'] | undefined;
}

function createHeldPieces(
  calls: CallStarts | undefined,
  onDelta: (chunk: ModelChunk) => void,
): HeldPieces {
  let held: Held | undefined;
  const publish = ({ kind }: CutEvent['delta'], delta: string): void => onDelta({ kind, delta });
  return {
    kind: () => held?.cut.delta.kind,
    release: () => {
      if (held === undefined) return '';
      const { cut, bodies } = held;
      held = undefined;
      return `${cut.before}${bodies.join('')}${cut.after}${EVENT_END}`;
    },
    hold: (cut) => {
      const { delta, body } = cut;
      held = {
        cut,
        before: comparable(cut.before),
        after: comparable(cut.after),
        bodies: [body],
        characters: body.length,
        mayBeWhole: calls?.mayBeWhole(delta, delta.text) ?? false,
      };
      publish(delta, delta.text);
    },
    join: (event) => {
      if (held === undefined || held.mayBeWhole) return false;
      const { delta } = held.cut;
      const next = cutAt(event, delta.field);
      if (next === undefined || held.characters + next.body.length > MAX_JOINED_CHARACTERS) {
        return false;
      }
      const isAlike =
        comparable(next.before) === held.before && comparable(next.after) === held.after;
      const text = isAlike ? textOf(next.body) : undefined;
      if (text === undefined) return false;
      held.bodies.push(next.body);
      held.characters += next.body.length;
      held.mayBeWhole = calls?.mayBeWhole(delta, text) ?? false;
      publish(delta, text);
      return true;
    },
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
  const equal = part
    .replace(/"sequence_number": ?\d+/, '"sequence_number":0')
    .replace(/"obfuscation": ?"[A-Za-z0-9]*"/, '"obfuscation":""');
  // Not by one pattern: spaces that no brace follows would be searched again from each of them.
  return equal.endsWith('}') ? `${equal.slice(0, -1).trimEnd()}}` : equal;
}

function textOf(body: string): string | undefined {
  if (!body.includes('\\')) return body;
  try {
    return JSON.parse(`"${body}"`) as string;
  } catch {
    return undefined;
  }
}
