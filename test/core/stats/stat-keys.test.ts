import { describe, expect, it } from 'vitest';
import {
  isSelf,
  self,
  STAT_KEYS,
  statKeyInfo,
  withoutSelf,
} from '../../../src/core/stats/stat-keys.ts';
import { change, EMPTY_STATS, valueOf } from '../../../src/core/stats/stats.ts';

describe('keys of statistics', () => {
  it('have their prefix added once, told and taken away', () => {
    expect(self('agent:iterations')).toBe('$self:agent:iterations');
    expect(self(self('agent:iterations'))).toBe('$self:agent:iterations');
    expect([isSelf('$self:a:b'), isSelf('a:b')]).toEqual([true, false]);
    expect([withoutSelf('$self:a:b'), withoutSelf('a:b')]).toEqual(['a:b', 'a:b']);
  });

  it.each([
    { key: 'agent:iterations', row: 'agent:iterations', self: false, name: undefined },
    { key: '$self:agent:iterations', row: 'agent:iterations', self: true, name: undefined },
    { key: 'agent:model_calls:m/1:x', row: 'agent:model_calls', self: false, name: 'm/1:x' },
    {
      key: 'agent:tool_calls_error:search',
      row: 'agent:tool_calls_error',
      self: false,
      name: 'search',
    },
    { key: 'agent:tool_calls_error', row: undefined },
    { key: 'agent:iterations:x', row: undefined },
    { key: 'agent:model_calls:', row: undefined },
    { key: 'agent:nothing', row: undefined },
  ])('are known: $key', ({ key, row, self: isTwin, name }) => {
    const info = statKeyInfo(key);

    expect(info?.row.key).toBe(row);
    if (row !== undefined) expect([info?.self, info?.name]).toEqual([isTwin, name]);
  });

  it('are unique in their table', () => {
    const keys = STAT_KEYS.map(({ key }) => key);

    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('change', () => {
  it('counts a key with its twin, raises and sets gauges, in order', () => {
    const stats = change(EMPTY_STATS, [
      { kind: 'count', key: 'a:x', by: 2 },
      { kind: 'rise', key: 'a:g', by: 3 },
      { kind: 'set', key: 'a:g', value: 1 },
      { kind: 'rise', key: 'a:g', by: 1 },
      { kind: 'count', key: 'a:x', by: 1 },
    ]);

    expect(stats).toEqual({ counters: { 'a:x': 3, '$self:a:x': 3 }, gauges: { 'a:g': 2 } });
    expect([valueOf(stats, 'a:x'), valueOf(stats, 'a:g'), valueOf(stats, 'a:none')]).toEqual([
      3, 2, 0,
    ]);
  });

  it('gives the same object when nothing changes', () => {
    expect(change(EMPTY_STATS, [])).toBe(EMPTY_STATS);
  });
});
