/** Reads the frames of a chunk stream from text that arrives in arbitrary pieces. */
import { createParser } from 'eventsource-parser';
import {
  readWireEvent,
  MAX_WIRE_EVENT_CHARACTERS,
  type WireMessage,
} from '../../core/streaming/chunk-wire.ts';

/**
 * A reader for one connection. Never throws. An event longer than {@link MAX_WIRE_EVENT_CHARACTERS}
 * gives `broken`, and nothing after it is read or kept.
 */
export function createFrameReader(): (text: string) => readonly WireMessage[] {
  let frames: WireMessage[] = [];
  let isBroken = false;
  const parser = createParser({
    maxBufferSize: MAX_WIRE_EVENT_CHARACTERS,
    onEvent: (event) => {
      const frame = readWireEvent(event);
      if (frame !== undefined) frames.push(frame);
    },
    onError: ({ type }) => {
      // Any other error concerns one line, which the parser skips.
      if (type !== 'max-buffer-size-exceeded') return;
      isBroken = true;
      frames.push({ kind: 'broken' });
    },
  });
  return (text) => {
    frames = [];
    if (!isBroken) parser.feed(text);
    return frames;
  };
}
