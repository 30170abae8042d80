import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTranscriptCache } from '../../src/worker/serve/transcript-cache.ts';

function key(workflowId: string, epoch = 1) {
  return { namespace: 'default', workflowId, executionId: 'run', epoch };
}

/** A JSON text of 10 bytes. */
function item(name: string): string {
  return name.padEnd(8, '.');
}

describe('createTranscriptCache', () => {
  it('keeps what is appended in order, by epoch', () => {
    const cache = createTranscriptCache({ maxBytes: 1_000 });

    cache.append(key('a'), 0, ['head', 'one']);
    cache.append(key('a'), 2, ['two']);
    cache.append(key('a', 2), 0, ['other head']);

    expect(cache.read(key('a'))).toEqual(['head', 'one', 'two']);
    expect(cache.read(key('a', 2))).toEqual(['other head']);
    expect(cache.read(key('b'))).toBeUndefined();
  });

  it.each([
    {
      name: 'items that are there already',
      from: 0,
      items: ['x', 'x', 'x', 'three'],
      added: ['three'],
    },
    { name: 'items beyond a gap', from: 4, items: ['five'], added: [] },
    { name: 'nothing', from: 3, items: [], added: [] },
  ])('leaves out $name', ({ from, items, added }) => {
    const cache = createTranscriptCache({ maxBytes: 1_000 });
    cache.append(key('a'), 0, ['head', 'one', 'two']);

    cache.append(key('a'), from, items);

    expect(cache.read(key('a'))).toEqual(['head', 'one', 'two', ...added]);
  });

  it('does not begin an entry in its middle', () => {
    const cache = createTranscriptCache({ maxBytes: 1_000 });

    cache.append(key('a'), 1, ['one']);

    expect(cache.read(key('a'))).toBeUndefined();
    expect(cache.stats().entries).toBe(0);
  });

  it('gives away what was not used longest', () => {
    const cache = createTranscriptCache({ maxBytes: 30 });
    for (const name of ['a', 'b', 'c']) cache.append(key(name), 0, [item(name)]);

    cache.read(key('a'));
    cache.append(key('d'), 0, [item('d')]);

    expect(['a', 'b', 'c', 'd'].map((name) => cache.read(key(name)) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(cache.stats()).toEqual({
      entries: 3,
      bytes: 30,
      maxBytes: 30,
      hits: 4,
      misses: 1,
      evictions: 1,
    });
  });

  it('keeps no entry that alone is too large', () => {
    const cache = createTranscriptCache({ maxBytes: 25 });
    cache.append(key('small'), 0, [item('s')]);

    cache.append(key('large'), 0, [item('l'), item('l'), item('l')]);

    expect(cache.read(key('large'))).toBeUndefined();
    expect(cache.stats()).toMatchObject({ entries: 1, bytes: 10, evictions: 1 });
  });

  it('keeps nothing at 0 bytes', () => {
    const cache = createTranscriptCache({ maxBytes: 0 });

    cache.append(key('a'), 0, ['head']);

    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  it('forgets an entry, or all', () => {
    const cache = createTranscriptCache({ maxBytes: 1_000 });
    for (const name of ['a', 'b', 'c']) cache.append(key(name), 0, [item(name)]);

    cache.drop(key('a'));
    cache.drop(key('a'));
    expect(cache.stats()).toMatchObject({ entries: 2, bytes: 20 });
    cache.clear();
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  it('hands out lists that later items do not change', () => {
    const cache = createTranscriptCache({ maxBytes: 1_000 });
    cache.append(key('a'), 0, ['head']);
    const read = cache.read(key('a'));

    cache.append(key('a'), 1, ['one']);

    expect(read).toEqual(['head']);
  });

  it('never exceeds its bytes, and counts exactly what it holds', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      from: fc.nat(6),
      items: fc.array(fc.string({ maxLength: 20 }), { maxLength: 4 }),
      action: fc.constantFrom('append', 'append', 'append', 'read', 'drop'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(120), (steps, maxBytes) => {
        const cache = createTranscriptCache({ maxBytes });
        for (const { name, from, items, action } of steps) {
          if (action === 'append') cache.append(key(name), from, items);
          else if (action === 'read') cache.read(key(name));
          else cache.drop(key(name));

          const held = ['a', 'b', 'c', 'd'].flatMap((each) => cache.read(key(each)) ?? []);
          const bytes = held.reduce(
            (sum: number, each) => sum + Buffer.byteLength(JSON.stringify(each)),
            0,
          );
          expect(cache.stats().bytes).toBe(bytes);
          expect(bytes).toBeLessThanOrEqual(maxBytes);
        }
      }),
    );
  });
});
