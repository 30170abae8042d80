import { describe, expect, test } from 'vitest';
import {
  cachedResult,
  keepResult,
  MAX_CACHED_BYTES,
  toCachedResult,
} from '../../../src/core/toolchain/result-cache.ts';
import type { ToolResult } from '../../../src/core/contract/outcome.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const tool = toolSpec({ cache: true });
const call = { callId: '1.1', tool: 'search', args: { b: 1, a: 2 } };
const ok: ToolResult = {
  outcome: 'ok',
  output: 'hit',
  counts: { 'shop:hits': 1 },
  attempts: 1,
  started: true,
};

describe('what is kept', () => {
  test.each([
    {
      name: 'a success, without its reports',
      spec: tool,
      result: ok,
      kept: { key: 'search {"a":2,"b":1}', bytes: 45, result: { output: 'hit' }, iteration: 3 },
    },
    { name: 'nothing of other tools', spec: toolSpec(), result: ok, kept: undefined },
    {
      name: 'no failure',
      spec: tool,
      result: { outcome: 'error', error: 'Error: no', attempts: 1, started: true } as const,
      kept: undefined,
    },
    { name: 'no kept result again', spec: tool, result: { ...ok, attempts: 0 }, kept: undefined },
    {
      name: 'nothing larger than all that is kept',
      spec: tool,
      result: { ...ok, output: 'x'.repeat(MAX_CACHED_BYTES) },
      kept: undefined,
    },
  ])('$name', ({ spec, result, kept }) => {
    expect(toCachedResult(spec, call, result, 3)).toEqual(kept);
  });

  test('the newest 256 KB, each call once', () => {
    const entry = (key: string, bytes: number): Parameters<typeof keepResult>[1] => ({
      key,
      bytes,
      result: {},
      iteration: 1,
    });
    const third = MAX_CACHED_BYTES / 3;
    const all = ['a', 'b', 'a', 'c', 'd'].reduce<ReturnType<typeof keepResult>>(
      (kept, key) => keepResult(kept, entry(key, third)),
      [],
    );

    expect(all.map(({ key }) => key)).toEqual(['a', 'c', 'd']);
  });

  test('is found by name and canonical arguments', () => {
    const kept = toCachedResult(tool, call, ok, 1);
    const cache = kept === undefined ? [] : [kept];

    expect(cachedResult(cache, tool, { ...call, args: { a: 2, b: 1 } })).toEqual({
      outcome: 'ok',
      output: 'hit',
      attempts: 0,
      started: true,
    });
    expect(cachedResult(cache, tool, { ...call, args: { a: 2 } })).toBeUndefined();
    expect(cachedResult(undefined, tool, call)).toBeUndefined();
  });
});
