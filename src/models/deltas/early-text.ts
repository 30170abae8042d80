/**
 * Text that readers get before the AI SDK has parsed it. The SDK gives it again, joined; only what
 * readers do not have yet is then published.
 *
 * I1  The reply is what the SDK gives. Early text that it does not confirm stays provisional, and no
 *     more is published early in that call.
 */
import type { ModelChunk } from '../../core/contract/model.ts';

/** The early text of one stream. */
export interface EarlyText {
  /** Publishes a piece before the SDK gives it. */
  readonly publish: (chunk: ModelChunk) => void;
  /** Takes a piece of the SDK, and publishes what is new in it. */
  readonly confirm: (chunk: ModelChunk) => void;
  /** Ends it: nothing is published early from here on. */
  readonly close: () => void;
}

/** How much may be published without a word of the SDK, in characters. */
const MAX_AHEAD_CHARACTERS = 262_144;

/** The early text of a stream whose pieces `onChunk` publishes. */
export function createEarlyText(onChunk: (chunk: ModelChunk) => void): EarlyText {
  const ahead = new Map<ModelChunk['kind'], string>();
  let isOff = false;
  return {
    publish: (chunk) => {
      const { kind, delta } = chunk;
      if (isOff || delta === '') return;
      const more = (ahead.get(kind) ?? '') + delta;
      ahead.set(kind, more);
      isOff = more.length > MAX_AHEAD_CHARACTERS;
      onChunk(chunk);
    },
    confirm: (chunk) => {
      const { kind, delta } = chunk;
      const early = ahead.get(kind) ?? '';
      if (early === '') return onChunk(chunk);
      if (early.startsWith(delta)) return void ahead.set(kind, early.slice(delta.length));
      ahead.delete(kind);
      if (delta.startsWith(early)) return onChunk({ kind, delta: delta.slice(early.length) });
      isOff = true;
      onChunk(chunk);
    },
    close: () => {
      isOff = true;
    },
  };
}
