import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Chunk, ChunkMarker } from '../../../src/core/streaming/chunk.ts';
import {
  createFrameReader,
  END_FRAME,
  helloFrame,
  itemFrame,
  MAX_FRAME_CHARACTERS,
  PING_FRAME,
  type Frame,
} from '../../../src/core/streaming/chunk-wire.ts';
import { chunk, marker } from '../../support/chunks.ts';

/** What a reader makes of texts that come one after another. */
function read(texts: readonly string[]): readonly Frame[] {
  const take = createFrameReader();
  return texts.flatMap((text) => [...take(text)]);
}

const item = (it: Chunk | ChunkMarker): Frame => ({ kind: 'item', item: it });

const STREAM: readonly (Chunk | ChunkMarker)[] = [
  marker(1, 'restart', { attempt: 2 }),
  chunk(2, 'two\n\nlines, data: and event: end', { attempt: 2 }),
  chunk(3, 'so', { kind: 'reasoning', attempt: 2 }),
  chunk(4, '{"a":"é\u2028"}', { kind: 'tool_args', attempt: 2 }),
  marker(5, 'gap', { attempt: 2 }),
  marker(6, 'error', { attempt: 2 }),
  marker(7, 'end', { attempt: 2 }),
];

describe('the wire', () => {
  it('gives what was written, markers and pings included, however it is cut', () => {
    const text = `${helloFrame('i')}${PING_FRAME}${STREAM.map(itemFrame).join(PING_FRAME)}${END_FRAME}`;
    const expected = [{ kind: 'hello', v: 1, instance: 'i' }, ...STREAM.map(item), { kind: 'end' }];

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
    { name: 'no object', text: 'data: 7\n\n' },
    { name: 'no origin', text: 'data: {"kind":"text","delta":"x"}\n\n' },
    { name: 'an unknown kind', text: itemFrame({ ...chunk(1, 'x'), kind: 'smell' as 'text' }) },
    {
      name: 'a piece without text',
      text: itemFrame({ ...marker(1, 'end'), kind: 'text' as 'end' }),
    },
    { name: 'a number that is none', text: itemFrame(chunk(1.5, 'x')) },
    { name: 'a name of a later version', text: 'event: later\ndata: {}\n\n' },
    { name: 'a comment', text: ': hello\n\n' },
  ])('skips a frame with $name and reads on', ({ text }) => {
    expect(read([text, itemFrame(chunk(2, 'y'))])).toEqual([item(chunk(2, 'y'))]);
  });

  it('leaves a greeting that says nothing', () => {
    expect(read(['event: hello\ndata: {"v":"1"}\n\n'])).toEqual([{ kind: 'broken' }]);
  });

  it('gives up on what never ends, and keeps nothing of it', () => {
    const take = createFrameReader();

    const frames = [
      take('x'.repeat(MAX_FRAME_CHARACTERS)),
      take('x'),
      take(itemFrame(chunk(1, 'y'))),
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
