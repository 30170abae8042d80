import { describe, expect, it } from 'vitest';
import { explainBreach, firstBreach, wouldCross } from '../../../src/core/limits/breach.ts';
import type { Breach, Limit } from '../../../src/core/contract/limit.ts';
import type { Stats } from '../../../src/core/contract/stats.ts';

const stats: Stats = {
  counters: { 'a:b': 2, '$self:a:b': 1, 'a:b:y': 2, 'a:b:x': 2, 'z:z': 9 },
  gauges: { 'a:gauge': 1.5 },
};
const exact = (key: string, max: number): Limit => ({ kind: 'exact', key, max });
const prefix = (key: string, max: number): Limit => ({ kind: 'prefix', key, max });

describe('firstBreach', () => {
  it.each<{ name: string; limits: Limit[]; found: readonly [number, string, number] | null }>([
    { name: 'nothing without limits', limits: [], found: null },
    { name: 'nothing at the limit', limits: [exact('a:b', 2)], found: null },
    { name: 'a value above it', limits: [exact('a:b', 1)], found: [0, 'a:b', 2] },
    { name: 'a gauge', limits: [exact('a:gauge', 1)], found: [0, 'a:gauge', 1.5] },
    { name: 'nothing for a missing key at 0', limits: [exact('a:none', 0)], found: null },
    {
      name: 'the first in list order',
      limits: [exact('z:z', 9), exact('a:b', 1), exact('z:z', 1)],
      found: [1, 'a:b', 2],
    },
    { name: 'the smallest key of a prefix', limits: [prefix('a:b:', 1)], found: [0, 'a:b:x', 2] },
    {
      name: 'counters and gauges of a prefix',
      limits: [prefix('a:g', 1)],
      found: [0, 'a:gauge', 1.5],
    },
    { name: 'no twin of a prefix without it', limits: [prefix('$', 1)], found: null },
    {
      name: 'a twin of a prefix with it',
      limits: [prefix('$self:a', 0)],
      found: [0, '$self:a:b', 1],
    },
    { name: 'no refusal', limits: [{ ...exact('a:b', 1), onReach: 'refuse' }], found: null },
  ])('[row 40] [row 41] finds $name', ({ limits, found }) => {
    const breach = firstBreach(limits, stats);

    expect(breach).toEqual(
      found === null
        ? null
        : { limit: limits[found[0]], key: found[1], value: found[2], origin: 'self' },
    );
  });
});

describe('wouldCross', () => {
  it.each<{
    name: string;
    limits: Limit[];
    keys: string[];
    pending?: Record<string, number>;
    found: readonly [key: string, value: number] | null;
  }>([
    { name: 'nothing while there is room', limits: [exact('a:b', 3)], keys: ['a:b'], found: null },
    { name: 'the next step', limits: [exact('a:b', 2)], keys: ['a:b'], found: ['a:b', 2] },
    { name: 'the twin', limits: [exact('$self:a:b', 1)], keys: ['a:b'], found: ['$self:a:b', 1] },
    {
      name: 'what is in flight',
      limits: [exact('a:b', 4)],
      keys: ['a:b'],
      pending: { 'a:b': 2 },
      found: ['a:b', 4],
    },
    {
      name: 'what is in flight, on the twin too',
      limits: [exact('$self:a:b', 2)],
      keys: ['a:b'],
      pending: { 'a:b': 1 },
      found: ['$self:a:b', 2],
    },
    { name: 'no other key', limits: [exact('z:z', 0)], keys: ['a:b'], found: null },
    { name: 'a key that is missing', limits: [exact('n:n', 0)], keys: ['n:n'], found: ['n:n', 0] },
    {
      name: 'the key of a prefix that crosses, not the smallest',
      limits: [prefix('a:', 3)],
      keys: ['a:a', 'a:b'],
      pending: { 'a:b': 1 },
      found: ['a:b', 3],
    },
    {
      name: 'the smallest of several keys',
      limits: [prefix('a:b:', 2)],
      keys: ['a:b:y', 'a:b:x'],
      found: ['a:b:x', 2],
    },
    {
      name: 'the first limit in list order',
      limits: [exact('a:b:x', 2), exact('a:b', 2)],
      keys: ['a:b', 'a:b:x'],
      found: ['a:b:x', 2],
    },
    {
      name: 'a refusal as well',
      limits: [{ ...exact('a:b', 2), onReach: 'refuse' }],
      keys: ['a:b'],
      found: ['a:b', 2],
    },
  ])('[row 40] [row 41] finds $name', ({ limits, keys, pending, found }) => {
    const breach = wouldCross(limits, stats, keys, pending);

    expect(breach && [breach.key, breach.value, breach.attempted]).toEqual(
      found && [...found, found[1] + 1],
    );
  });
});

describe('explainBreach', () => {
  const limit = exact('agent:total_tokens', 1_000);
  const breach: Breach = { limit, key: limit.key, value: 1_250, origin: 'self' };

  it.each<{ name: string; of: Breach; text: string }>([
    {
      name: 'a value',
      of: breach,
      text: 'limit exceeded: agent:total_tokens is 1250, the limit is 1000',
    },
    {
      name: 'work that was not started',
      of: { ...breach, value: 1_000, attempted: 1_001 },
      text: 'limit reached: agent:total_tokens would be 1001, the limit is 1000',
    },
    {
      name: 'an ancestor',
      of: { ...breach, origin: { runId: 'r7', agent: 'planner' } },
      text: 'limit exceeded: agent:total_tokens of planner (run r7) is 1250, the limit is 1000',
    },
  ])('[row 40] says $name', ({ of, text }) => {
    expect(explainBreach(of)).toBe(text);
  });
});
