import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  END_EVENT,
  readWireEvent,
  helloEvent,
  itemEvent,
} from '../../../src/core/streaming/chunk-wire.ts';
import { chunk, marker } from '../../support/chunks.ts';

describe('the wire', () => {
  it('gives back what was written', () => {
    const items = [
      marker(1, 'restart', { attempt: 2 }),
      chunk(2, 'two\n\nlines, data: and event: end', { attempt: 2 }),
      chunk(3, '{"a":"é\u2028"}', { kind: 'tool_args', attempt: 2 }),
    ];

    expect(readWireEvent(helloEvent('i'))).toEqual({
      kind: 'hello',
      v: 1,
      instance: 'i',
      events: false,
    });
    expect(items.map((item) => readWireEvent(itemEvent(item)))).toEqual(
      items.map((item) => ({ kind: 'item', item })),
    );
    expect(readWireEvent(END_EVENT)).toEqual({ kind: 'end' });
  });

  it.each([
    { name: 'no JSON', event: { data: '{"kind"' } },
    { name: 'no object', event: { data: '7' } },
    { name: 'no origin', event: { data: '{"kind":"text","delta":"x"}' } },
    { name: 'an unknown kind', event: itemEvent({ ...chunk(1, 'x'), kind: 'smell' as 'text' }) },
    {
      name: 'a chunk without text',
      event: itemEvent({ ...marker(1, 'end'), kind: 'text' as 'end' }),
    },
    { name: 'a number that is none', event: itemEvent(chunk(1.5, 'x')) },
    { name: 'a name of a later version', event: { event: 'later', data: '{}' } },
  ])('skips an event with $name', ({ event }) => {
    expect(readWireEvent(event)).toBeUndefined();
  });

  it('reports a greeting without a version as broken', () => {
    expect(readWireEvent({ event: 'hello', data: '{"v":"1"}' })).toEqual({ kind: 'broken' });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.option(fc.string(), { nil: undefined }), fc.string(), (event, data) => {
        readWireEvent({ event, data });
      }),
    );
  });
});
