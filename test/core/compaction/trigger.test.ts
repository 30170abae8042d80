import { describe, expect, it } from 'vitest';
import { context, counter, counterPrefix, gauge, gaugePrefix } from '../../../src/index.ts';
import type { TriggerSpec } from '../../../src/core/contract/compaction.ts';
import { fires, snapshotsOf, type TriggerInput } from '../../../src/core/compaction/trigger.ts';

function input(fields: Partial<TriggerInput> = {}): TriggerInput {
  return {
    stats: { counters: {}, gauges: {} },
    snapshots: {},
    contextWindow: undefined,
    contextTokens: () => 0,
    ...fields,
  };
}

const counters = (numbers: { readonly [key: string]: number }): Partial<TriggerInput> => ({
  stats: { counters: numbers, gauges: {} },
});
const gauges = (numbers: { readonly [key: string]: number }): Partial<TriggerInput> => ({
  stats: { counters: {}, gauges: numbers },
});
const sized = (tokens: number): Partial<TriggerInput> => ({
  contextWindow: 1_000,
  contextTokens: () => tokens,
});

describe('a trigger', () => {
  it.each<{ name: string; trigger: TriggerSpec; with: Partial<TriggerInput>; fires: boolean }>([
    {
      name: 'a counter one below its step',
      trigger: counter('agent:iterations', 5),
      with: counters({ 'agent:iterations': 4 }),
      fires: false,
    },
    {
      name: 'a counter exactly at its step',
      trigger: counter('agent:iterations', 5),
      with: counters({ 'agent:iterations': 5 }),
      fires: true,
    },
    {
      name: 'a counter above its step',
      trigger: counter('agent:iterations', 5),
      with: counters({ 'agent:iterations': 9 }),
      fires: true,
    },
    {
      name: 'a counter that has not risen enough since the last compaction',
      trigger: counter('agent:iterations', 5),
      with: {
        ...counters({ 'agent:iterations': 9 }),
        snapshots: { 'agent:iterations': 5 },
      },
      fires: false,
    },
    {
      name: 'a counter that has',
      trigger: counter('agent:iterations', 5),
      with: {
        ...counters({ 'agent:iterations': 10 }),
        snapshots: { 'agent:iterations': 5 },
      },
      fires: true,
    },
    {
      name: 'a counter that nobody moved',
      trigger: counter('shop:refunds', 1),
      with: {},
      fires: false,
    },
    {
      name: 'a prefix whose counters together reach the step, but none alone',
      trigger: counterPrefix('agent:tool_calls:', 3),
      with: counters({ 'agent:tool_calls:a': 2, 'agent:tool_calls:b': 2 }),
      fires: false,
    },
    {
      name: 'a prefix with one counter at the step',
      trigger: counterPrefix('agent:tool_calls:', 3),
      with: counters({ 'agent:tool_calls:a': 2, 'agent:tool_calls:b': 3 }),
      fires: true,
    },
    {
      name: 'a prefix with a snapshot of another key',
      trigger: counterPrefix('agent:tool_calls:', 3),
      with: {
        ...counters({ 'agent:tool_calls:a': 4, 'agent:tool_calls:b': 2 }),
        snapshots: { 'agent:tool_calls:a': 2 },
      },
      fires: false,
    },
    {
      name: 'a prefix that only a twin matches',
      trigger: counterPrefix('agent:tool_calls:', 1),
      with: counters({ '$self:agent:tool_calls:a': 1 }),
      fires: false,
    },
    {
      name: 'a gauge below',
      trigger: gauge('agent:scratchpad_length', 8),
      with: gauges({ 'agent:scratchpad_length': 7 }),
      fires: false,
    },
    {
      name: 'a gauge exactly at',
      trigger: gauge('agent:scratchpad_length', 8),
      with: gauges({ 'agent:scratchpad_length': 8 }),
      fires: true,
    },
    {
      name: 'a gauge at 0 that was never set',
      trigger: gauge('shop:load', 0),
      with: {},
      fires: false,
    },
    {
      name: 'a prefix of gauges below',
      trigger: gaugePrefix('agent:total_tokens_last_iteration:', 100),
      with: gauges({ 'agent:total_tokens_last_iteration:m': 99 }),
      fires: false,
    },
    {
      name: 'a prefix of gauges with one at the value',
      trigger: gaugePrefix('agent:total_tokens_last_iteration:', 100),
      with: gauges({
        'agent:total_tokens_last_iteration:m': 99,
        'agent:total_tokens_last_iteration:n': 100,
      }),
      fires: true,
    },
    { name: 'a share one token below', trigger: context(0.8), with: sized(799), fires: false },
    { name: 'a share exactly at', trigger: context(0.8), with: sized(800), fires: true },
    {
      name: 'a share of a window that nobody knows',
      trigger: context(0.8),
      with: { contextTokens: () => 1_000_000 },
      fires: false,
    },
  ])('[row 49] $name: $fires', ({ trigger, with: fields, fires: expected }) => {
    expect(fires([trigger], input(fields))).toBe(expected);
  });

  it('[row 49] is enough beside others that do not fire, and none is none', () => {
    const quiet = counter('agent:iterations', 5);

    expect(fires([quiet, gauge('a:b', 1)], input(gauges({ 'a:b': 1 })))).toBe(true);
    expect(fires([quiet], input())).toBe(false);
    expect(fires([], input())).toBe(false);
  });

  it('[row 49] remembers each concrete counter that is watched, and nothing else', () => {
    const triggers = [
      counter('agent:iterations', 5),
      counter('shop:refunds', 1),
      counterPrefix('agent:tool_calls:', 3),
      gauge('agent:scratchpad_length', 1),
      context(0.5),
    ];
    const stats = {
      counters: {
        'agent:iterations': 7,
        'agent:tool_calls': 3,
        'agent:tool_calls:a': 1,
        'agent:tool_calls:b': 2,
      },
      gauges: { 'agent:scratchpad_length': 4 },
    };

    expect(snapshotsOf(triggers, stats)).toEqual({
      'agent:iterations': 7,
      'shop:refunds': 0,
      'agent:tool_calls:a': 1,
      'agent:tool_calls:b': 2,
    });
  });
});
