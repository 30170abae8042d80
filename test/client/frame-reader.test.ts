import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameReader } from '../../src/client/streaming/frame-reader.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import {
  END_EVENT,
  helloEvent,
  itemEvent,
  MAX_WIRE_EVENT_CHARACTERS,
  type WireMessage,
  type WireEvent,
} from '../../src/core/streaming/chunk-wire.ts';
import { chunk, marker } from '../support/chunks.ts';

/** The frames of texts that arrive one after another. */
function read(texts: readonly string[]): readonly WireMessage[] {
  const take = createFrameReader();
  return texts.flatMap((text) => [...take(text)]);
}

const textOf = ({ event, data }: WireEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
const itemText = (item: Chunk | ChunkMarker): string => textOf(itemEvent(item));
const frame = (item: Chunk | ChunkMarker): WireMessage => ({ kind: 'item', item });

const PING = ': ping\n\n';
const STREAM: readonly (Chunk | ChunkMarker)[] = [
  marker(1, 'restart', { attempt: 2 }),
  chunk(2, 'two\n\nlines, data: and event: end', { attempt: 2 }),
  chunk(3, 'so', { kind: 'reasoning', attempt: 2 }),
  chunk(4, '{"a":"é\u2028"}', { kind: 'tool_args', attempt: 2 }),
  marker(5, 'gap', { attempt: 2 }),
  marker(6, 'error', { attempt: 2 }),
  marker(7, 'end', { attempt: 2 }),
];

describe('createFrameReader', () => {
  it('gives what was written, markers and pings included, however it is cut', () => {
    const text = `${textOf(helloEvent('i'))}${PING}${STREAM.map(itemText).join(PING)}${textOf(END_EVENT)}`;
    const expected = [
      { kind: 'hello', v: 1, instance: 'i', events: false },
      ...STREAM.map(frame),
      { kind: 'end' },
    ];

    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(read(pieces)).toEqual(expected);
      }),
    );
    expect(read(Array.from(text))).toEqual(expected);
  });

  it.each([
    { name: 'no JSON', text: 'data: {"kind"\n\n' },
    { name: 'a name of a later version', text: 'event: later\ndata: {}\n\n' },
    { name: 'a comment', text: ': hello\n\n' },
    { name: 'a field that it does not know', text: 'later: 1\n\n' },
  ])('skips a frame with $name and reads on', ({ text }) => {
    expect(read([text, itemText(chunk(2, 'y'))])).toEqual([frame(chunk(2, 'y'))]);
  });

  it('gives up on what never ends, and keeps nothing of it', () => {
    const take = createFrameReader();

    const frames = [
      take('x'.repeat(MAX_WIRE_EVENT_CHARACTERS)),
      take('x'),
      take(itemText(chunk(1, 'y'))),
    ];

    expect(frames).toEqual([[], [{ kind: 'broken' }], []]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        read(texts.map((text) => `data:${text}\n\n`));
      }),
    );
  });
});
