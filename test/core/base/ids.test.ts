import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  forkId,
  headAbove,
  belowOf,
  idBelow,
  idProblem,
  isOwnId,
  MAX_ID_CHARACTERS,
  momentId,
  newIdProblem,
  ownId,
  ownName,
  runIdProblem,
} from '../../../src/core/base/ids.ts';
import { lastCallOf, placeOfItem } from '../../../src/core/tree/calls.ts';

const LONG = `to be text of 1 to ${MAX_ID_CHARACTERS} characters`;

describe('an id', () => {
  it.each(['a', 'order-7', 'a~b/1.2', 'größe', '😀'.repeat(250), 'x'.repeat(255), 'a b'])(
    'may be %s',
    (id) => {
      expect(idProblem(id)).toBeUndefined();
    },
  );

  it.each([
    [undefined, LONG],
    [7, LONG],
    ['', LONG],
    ['x'.repeat(256), LONG],
    // 255 characters, but more bytes than the service takes.
    ['😀'.repeat(255), LONG],
    ['x'.repeat(1e7), LONG],
    ['a\0b', 'to have no control characters'],
    ['a\nb', 'to have no control characters'],
    ['a\u007Fb', 'to have no control characters'],
    ['a\u0085b', 'to have no control characters'],
    ['a\u2028b', 'to have no control characters'],
    ['a\u2029b', 'to have no control characters'],
    ['a\uD800b', 'to have no control characters'],
    ['a ', 'to have no space at its beginning or end'],
    ['\u3000a', 'to have no space at its beginning or end'],
  ])('may not be %j', (id, problem) => {
    expect(idProblem(id)).toBe(problem);
  });

  it.each([
    '~tenant:acme',
    '~rate:provider/model',
    'acme:~callbacks-1',
    'clerk-7/~moment-1',
    'a~b',
    'clerk-7/1.6',
    'clerk-7/1.p2/0/1',
    'clerk-7/2.spawn-1',
    'nightly-2026-11-28T12:00:00Z',
    'acme:nightly-2026-11-28T12:00:00Z',
    'temporal-sys-scheduler:nightly',
    '__temporal_x',
  ])('of a new run may not be %s', (id) => {
    expect(idProblem(id)).toBeUndefined();
    expect(newIdProblem(id)).toBeDefined();
  });

  it.each(['order/7', 'team/v1.2', 'a/1', '1.2', '2026-11-28', 'a:b'])(
    'of a new run may be %s',
    (id) => {
      expect(newIdProblem(id)).toBeUndefined();
    },
  );

  it('is known as one of our own', () => {
    const ids = [ownId('ledger', 'acme'), ownId('counter', 'p/m'), momentId('clerk-7', '1')];
    expect(ids).toEqual(['~tenant:acme', '~rate:p/m', 'clerk-7/~moment-1']);
    expect([...ids, `acme:${ownId('callbacks', '1')}`].every(isOwnId)).toBe(true);
    expect(ownName('ledger', '~tenant:acme')).toBe('acme');
    expect(ownName('ledger', 'tenant:acme')).toBeUndefined();
    expect(ownName('counter', '~tenant:acme')).toBeUndefined();
    expect(isOwnId(idBelow('x'.repeat(255), '1.1'))).toBe(false);
  });

  it('belongs to a run that its parent has started, or to a root', () => {
    const parent = { workflowId: 'clerk-7', callId: '1.6' };
    expect(runIdProblem('clerk-7/1.6', parent)).toBeUndefined();
    expect(runIdProblem('clerk-7/1.6', null)).toBe('to end otherwise than that of a child run');
    expect(runIdProblem('clerk-7/1.7', parent)).toBe('to end otherwise than that of a child run');
    expect(runIdProblem('~tenant:acme', parent)).toBe("to be none of Everloop's own");
    expect(runIdProblem('~rate:m', null)).toBe("to be none of Everloop's own");
    expect(runIdProblem('a\0', null)).toBe('to have no control characters');
    // A fork of a run whose id was too long.
    expect(runIdProblem(forkId('x'.repeat(255), '1'), null)).toBeUndefined();
  });
});

/** Whatever a user or another program gives. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', minLength: 150, maxLength: 300 }),
  fc
    .tuple(
      fc.constantFrom('x', 'é', '中', '😀', '~', '/', ':'),
      fc.integer({ min: 100, max: 260 }),
      fc.string(),
    )
    .map(([unit, count, end]) => unit.repeat(count) + end),
);
const rootId = anyText.filter((id) => newIdProblem(id) === undefined);

/** Calls as turns, programs and loops name them. */
const iteration = fc.integer({ min: 1, max: 10_000 });
const callId = fc.oneof(
  fc.tuple(iteration, fc.integer({ min: 1, max: 200 })).map(([i, n]) => `${i}.${n}`),
  fc
    .tuple(iteration, fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 60 }))
    .map(([i, path]) => [`${i}.p1`, ...path].join('/')),
  fc
    .tuple(iteration, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }))
    .map(([i, name]) => `${i}.${name.replaceAll('/', '-')}`),
);
const place = fc.record({ root: rootId, calls: fc.array(callId, { maxLength: 12 }) });

describe('an id that follows from others', () => {
  it('is one that the service takes, whatever the root and however deep', () => {
    fc.assert(
      fc.property(place, fc.uuid(), ({ root, calls }, name) => {
        const ids = calls.reduce<string[]>(
          (all, call) => [...all, idBelow(all.at(-1) ?? root, call)],
          [],
        );
        const id = ids.at(-1) ?? root;
        for (const one of [...ids, momentId(id, name), forkId(id, name)]) {
          expect(idProblem(one)).toBeUndefined();
        }
        expect(newIdProblem(forkId(id, name))).toBeUndefined();
      }),
    );
  });

  it('is another one for another root or another way, and never one that a user can choose', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 2, maxLength: 8 }), (places) => {
        const pathOf = ({ root, calls }: (typeof places)[number]): string =>
          calls.reduce(idBelow, root);
        const given = new Set(places.map((one) => JSON.stringify([one.root, one.calls])));
        expect(new Set(places.map(pathOf)).size).toBe(given.size);
        for (const one of places) {
          if (one.calls.length > 0) expect(newIdProblem(pathOf(one))).toBeDefined();
        }
      }),
    );
  });

  it('differs for long roots that differ in their last character, on every level', () => {
    fc.assert(
      fc.property(fc.integer({ min: 140, max: 254 }), fc.array(callId), (length, calls) => {
        const [a, b] = ['a', 'b'].map((end) =>
          calls.reduce(idBelow, `${'x'.repeat(length)}${end}`),
        );
        expect(a).not.toBe(b);
      }),
    );
  });

  it('begins as all that its parent derives, and ends with its call', () => {
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 99 }), ({ root, calls }, n) => {
        const parent = calls.reduce(idBelow, root);
        const id = idBelow(parent, `7.${n}`);
        expect(id.startsWith(belowOf(parent))).toBe(true);
        expect(momentId(parent, '1').startsWith(belowOf(parent))).toBe(true);
        expect(lastCallOf(id)).toBe(`7.${n}`);
        expect(runIdProblem(id, { workflowId: parent, callId: `7.${n}` })).toBeUndefined();
      }),
    );
  });

  it('is found by the calls that an item shows, and leads to what may be above it', () => {
    fc.assert(
      fc.property(rootId, fc.array(fc.nat(9).map((n) => `1.${n}`)), (root, calls) => {
        const item = placeOfItem([...calls, 'q1'].join('/'));
        expect(item.calls.reduce(idBelow, root)).toBe(calls.reduce(idBelow, root));
        const id = calls.reduce(idBelow, root);
        const head = headAbove(id);
        if (head === undefined) expect([root, ...calls].join('/')).toBe(id);
        else expect(root.startsWith(head) || head.startsWith(root)).toBe(true);
      }),
    );
  });

  it('is short as it is, and else has a digest that anybody can repeat', () => {
    expect(idBelow('clerk-7', '1.6')).toBe('clerk-7/1.6');
    expect(idBelow(idBelow('clerk-7', '1.6'), '1.1')).toBe('clerk-7/1.6/1.1');
    const root = 'r'.repeat(255);
    const digest = createHash('sha256').update(root).digest('hex').slice(0, 32);
    expect(idBelow(root, '1.6')).toBe(`${'r'.repeat(157)}~${digest}/1.6`);
    const call = `3.${'c'.repeat(70)}`;
    const ofCall = createHash('sha256').update(call).digest('hex').slice(0, 32);
    expect(idBelow('a', call)).toBe(`a/3.~${ofCall}`);
    expect(headAbove(idBelow(root, '1.6'))).toBe('r'.repeat(157));
  });
});
