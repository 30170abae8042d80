/** Reads the frames of a chunk stream from text that is cut anywhere. */
import { createParser } from 'eventsource-parser';
import { frameOf, MAX_FRAME_CHARACTERS, type Frame } from '../core/streaming/chunk-wire.ts';

/**
 * A reader for one connection. Never throws. An event that exceeds {@link MAX_FRAME_CHARACTERS}
 * gives `broken`, and nothing after it is read or kept.
 */
export function createFrameReader(): (text: string) => readonly Frame[] {
  let frames: Frame[] = [];
  let isBroken = false;
  const parser = createParser({
    maxBufferSize: MAX_FRAME_CHARACTERS,
    onEvent: (event) => {
      const frame = frameOf(event);
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
