/** What pages show of a run besides its texts and calls, and show again when they are loaded anew. */
import { byteSize } from '../base/json.ts';
import type { MediaPart } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import { isOwnEvent, type AgentEvent, type OwnEvent } from '../contract/events.ts';

/** The most kept parts that are shown again, and their bytes of JSON: the newest. */
const MAX_PARTS = 500;
const MAX_PART_BYTES = 1_000_000;

/**
 * The parts that tools and loops have emitted with `keep`: of each name and id the last event, in the
 * order in which the parts first came.
 */
export function keptParts(events: readonly AgentEvent[]): readonly OwnEvent[] {
  const parts = new Map<string, OwnEvent>();
  for (const event of events) {
    if (isOwnEvent(event) && event.keep === true) {
      parts.set(JSON.stringify([event.runId, event.type, event.id]), event);
    }
  }
  let bytes = 0;
  const newest = [...parts.values()].toReversed().slice(0, MAX_PARTS);
  const over = newest.findIndex(({ data }) => (bytes += byteSize(data)) > MAX_PART_BYTES);
  return newest.slice(0, over < 0 ? undefined : over).toReversed();
}

/**
 * The files that the tools of a turn returned, in the order of its calls: `media` of
 * `agent:tool_call:after` says how many each of them did.
 */
export function toolFiles({ origin, messages }: Entry): readonly MediaPart[] {
  if (origin !== 'original') return [];
  return messages.flatMap(({ role, parts }) =>
    role === 'user' ? parts.filter((part): part is MediaPart => part.type === 'media') : [],
  );
}
