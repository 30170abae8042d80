import { describe, expect, test } from 'vitest';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import { compileLimits, type LimitSources } from '../../../src/core/start/compile-limits.ts';
import { DEFAULT_LIMITS } from '../../../src/core/limits/default-limits.ts';
import type { Limit } from '../../../src/core/contract/limit.ts';

const [iterations, ...rest] = DEFAULT_LIMITS;

function exact(key: string, max: number, onReach?: Limit['onReach']): Limit {
  return { kind: 'exact', key, max, ...(onReach === undefined ? {} : { onReach }) };
}

function limitsOf(sources: LimitSources): readonly Limit[] {
  const compiled = compileLimits(sources);
  if (compiled.kind === 'problems') throw new Error(JSON.stringify(compiled.problems));
  return compiled.limits;
}

describe('[row 42] default limits', () => {
  test('are these eleven, in this order', () => {
    expect(limitsOf({})).toEqual([
      exact('$self:agent:iterations', 100),
      exact('agent:format_parse_error_consecutive', 3),
      exact('agent:toolchain_parse_error_consecutive', 3),
      exact('agent:section_parse_error_consecutive', 3),
      exact('agent:tool_calls_error_consecutive', 3),
      exact('agent:code_executions_error_consecutive', 3),
      exact('agent:repeated_calls', 7),
      exact('$self:agent:answer_rejected_total', 10),
      exact('agent:termination_parse_error_consecutive', 3),
      exact('agent:depth', 5, 'refuse'),
      exact('agent:children', 100, 'refuse'),
    ]);
  });
});

describe('[row 42] short forms', () => {
  test('replace a default in its place and keep what happens at it', () => {
    const limits = limitsOf({ definition: { iterations: 5, depth: 2, children: 0 } });

    expect(limits).toEqual([
      exact('$self:agent:iterations', 5),
      ...rest.slice(0, 8),
      exact('agent:depth', 2, 'refuse'),
      exact('agent:children', 0, 'refuse'),
    ]);
  });

  test('are added behind the defaults in the order of the spec, then custom ones', () => {
    const custom = exact('shop:refunds', 3);
    const limits = limitsOf({
      definition: {
        custom: [custom],
        activeMs: 9,
        wallClockMs: 8.5,
        costUsd: 1.2345678,
        questions: 7,
        programSteps: 6,
        toolCalls: 5,
        modelCalls: 4,
        totalTokens: 3,
        outputTokens: 2,
        inputTokens: 1,
      },
    });

    expect(limits).toEqual([
      ...DEFAULT_LIMITS,
      exact('agent:input_tokens', 1),
      exact('agent:output_tokens', 2),
      exact('agent:total_tokens', 3),
      exact('agent:model_calls', 4),
      exact('agent:tool_calls', 5),
      exact('agent:program_steps', 6),
      exact('agent:questions', 7),
      exact('agent:cost_microusd', 1_234_568),
      exact('agent:wall_clock_ms', 8.5),
      exact('agent:active_ms', 9),
      custom,
    ]);
  });

  test('drop a default when they are unlimited', () => {
    const limits = limitsOf({ definition: { iterations: 'unlimited', toolCalls: 'unlimited' } });

    expect(limits).toEqual(rest);
  });

  test("drop everything with 'unlimited' as a whole", () => {
    expect(limitsOf({ definition: 'unlimited' })).toEqual([]);
  });
});

describe('[row 42] custom limits', () => {
  test('replace a default on the same key as they are written', () => {
    const limit = exact('agent:depth', 7);
    const limits = limitsOf({ definition: { custom: [limit] } });

    expect(limits).toEqual([...DEFAULT_LIMITS.slice(0, 9), limit, DEFAULT_LIMITS[10]]);
  });

  test('may share a key: a refusal first, an end later', () => {
    const both = [
      exact('agent:tool_calls:search', 3, 'refuse'),
      exact('agent:tool_calls:search', 9),
    ];

    expect(limitsOf({ definition: { custom: both } })).toEqual([...DEFAULT_LIMITS, ...both]);
  });

  test('are told apart by kind', () => {
    const prefix: Limit = { kind: 'prefix', key: 'agent:depth', max: 1 };

    expect(limitsOf({ definition: { custom: [prefix] } })).toEqual([...DEFAULT_LIMITS, prefix]);
  });
});

describe("[row 42] a start's limits", () => {
  const definition: LimitsInput = {
    iterations: 20,
    toolCalls: 10,
    custom: [exact('agent:tool_calls:search', 3, 'refuse'), exact('agent:tool_calls:search', 9)],
  };

  test("replace the definition's on the same key, in their place", () => {
    const limits = limitsOf({
      definition,
      start: { iterations: 30, custom: [exact('agent:tool_calls:search', 1)], modelCalls: 2 },
    });

    expect(limits).toEqual([
      exact('$self:agent:iterations', 30),
      ...rest,
      exact('agent:tool_calls', 10),
      exact('agent:tool_calls:search', 1),
      exact('agent:model_calls', 2),
    ]);
  });

  test('drop one of the definition', () => {
    const limits = limitsOf({ definition, start: { toolCalls: 'unlimited' } });

    expect(limits.map(({ key }) => key)).not.toContain('agent:tool_calls');
  });

  test("drop all with 'unlimited'", () => {
    expect(limitsOf({ definition, start: 'unlimited' })).toEqual([]);
  });
});

describe('maxTurns', () => {
  test.each([
    { name: 'replaces the default', sources: { maxTurns: 7 }, max: 7 },
    {
      name: 'holds when it is the smaller',
      sources: { maxTurns: 7, definition: { iterations: 9 } },
      max: 7,
    },
    {
      name: 'gives way when the limit is the smaller',
      sources: { maxTurns: 7, definition: { iterations: 5 } },
      max: 5,
    },
    {
      name: 'may be more than the default',
      sources: { maxTurns: 200 },
      max: 200,
    },
    {
      name: 'is replaced by a start',
      sources: { maxTurns: 7, start: { iterations: 50 } },
      max: 50,
    },
    {
      name: 'holds where limits are unlimited',
      sources: { maxTurns: 7, definition: { iterations: 'unlimited' } },
      max: 7,
    },
  ] satisfies readonly { name: string; sources: LimitSources; max: number }[])(
    '$name',
    ({ sources, max }) => {
      const found = limitsOf(sources).filter(({ key }) => key === '$self:agent:iterations');

      expect(found).toEqual([{ ...iterations, max }]);
    },
  );
});

describe('[row 26] what is wrong with limits', () => {
  const names =
    'iterations, inputTokens, outputTokens, totalTokens, modelCalls, toolCalls, programSteps, ' +
    'children, questions, costUsd, wallClockMs, activeMs, depth, custom, onUnknownUsage';
  const refusable = 'tool_calls, code_executions, children, questions, depth';

  test.each([
    {
      name: 'a misspelt short form',
      limits: { iteration: 3 },
      message: `Expected the names of limits to be among ${names}, got \`iteration\`. Did you mean \`iterations\`?`,
    },
    {
      name: 'an unknown short form',
      limits: { patience: 3 },
      message: `Expected the names of limits to be among ${names}, got \`patience\`. Write limits on other keys under \`custom\`.`,
    },
    {
      name: 'a negative value',
      limits: { iterations: -1 },
      message:
        "Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got -1. Change it.",
    },
    {
      name: 'half an iteration',
      limits: { iterations: 1.5 },
      message:
        "Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got 1.5. Change it.",
    },
    {
      name: 'another text than unlimited',
      limits: { costUsd: 'none' },
      message:
        'Expected limit `costUsd` to be a number from 0 up or \'unlimited\', got "none". Change it.',
    },
    {
      name: 'infinity',
      limits: { wallClockMs: Infinity },
      message:
        "Expected limit `wallClockMs` to be a number from 0 up or 'unlimited', got Infinity. Change it.",
    },
    {
      name: 'limits that are no object',
      limits: 5,
      message:
        "Expected `limits` to be 'unlimited' or an object, got 5. Write it as `{ iterations: 20 }`.",
    },
    {
      name: 'custom limits that are no list',
      limits: { custom: {} },
      message:
        "Expected limits `custom` to be a list of limits, got {}. Write it as `[{ kind: 'exact', key: 'agent:tool_calls:search', max: 3 }]`.",
    },
    {
      name: 'a limit of another shape',
      limits: { custom: [{ key: 'agent:depth' }] },
      message:
        "Expected a limit to be { kind: 'exact' | 'prefix', key: text, max: number, onReach?: 'end' | 'refuse', onUnknownUsage?: 'estimate' | 'warn' | 'end' }, got {\"key\":\"agent:depth\"}. Change it.",
    },
    {
      name: 'an unknown key of the loop',
      limits: { custom: [exact('agent:tool_cals:search', 3)] },
      message:
        'Expected the key of a limit to be a statistic of the loop, got `agent:tool_cals:search`. Did you mean `agent:tool_calls:search`?',
    },
    {
      name: 'an unknown prefix of the loop',
      limits: { custom: [{ kind: 'prefix', key: '$self:agent:itrations', max: 1 }] },
      message:
        'Expected the key of a limit to be a statistic of the loop, got `$self:agent:itrations`. Did you mean `$self:agent:iterations`?',
    },
    {
      name: 'the twin of a gauge',
      limits: { custom: [exact('$self:agent:depth', 3)] },
      message:
        'Expected `$self:` in front of counters only, got `$self:agent:depth`, which is a gauge. Remove `$self:`: gauges are never summed over a tree.',
    },
    {
      name: 'a key of a user without a colon',
      limits: { custom: [exact('refunds', 3)] },
      message:
        'Expected the key of a limit of your own to contain `:`, got `refunds`. Write it as `name:refunds`.',
    },
    {
      name: 'a negative max',
      limits: { custom: [exact('shop:stock', -1)] },
      message:
        'Expected `max` of the limit on `shop:stock` to be a number from 0 up, got -1. Change it.',
    },
    {
      name: 'half a step of a counter',
      limits: { custom: [exact('agent:tool_calls:search', 1.5)] },
      message:
        'Expected `max` of the limit on `agent:tool_calls:search` to be a whole number from 0 up, got 1.5. Change it.',
    },
    {
      name: 'a refusal of tokens',
      limits: { custom: [exact('agent:input_tokens', 5, 'refuse')] },
      message: `Expected \`onReach: 'refuse'\` only on ${refusable}, got it on \`agent:input_tokens\`. Use \`onReach: 'end'\`.`,
    },
    {
      name: 'a refusal by a key of a user',
      limits: { custom: [exact('shop:refunds', 5, 'refuse')] },
      message: `Expected \`onReach: 'refuse'\` only on ${refusable}, got it on \`shop:refunds\`. Use \`onReach: 'end'\`.`,
    },
  ])('reports $name', ({ limits, message }) => {
    const sources = { definition: limits as LimitsInput };

    expect(compileLimits(sources)).toEqual({
      kind: 'problems',
      problems: [{ code: 'limit_key', message }],
    });
  });

  test('reports everything at once: of the definition, of maxTurns, of the start', () => {
    const compiled = compileLimits({
      definition: { depth: -1 },
      maxTurns: 0,
      start: { custom: [exact('refunds', -1)] },
    });

    expect(compiled).toEqual({
      kind: 'problems',
      problems: [
        {
          code: 'limit_key',
          message:
            "Expected limit `depth` to be a whole number from 0 up or 'unlimited', got -1. Change it.",
        },
        { code: 'number', message: 'Expected `maxTurns` from 1 up, got 0. Change it.' },
        {
          code: 'limit_key',
          message:
            'Expected the key of a limit of your own to contain `:`, got `refunds`. Write it as `name:refunds`.',
        },
        {
          code: 'limit_key',
          message:
            'Expected `max` of the limit on `refunds` to be a number from 0 up, got -1. Change it.',
        },
      ],
    });
  });

  test.each([
    exact('agent:tool_calls:search', 0, 'refuse'),
    { kind: 'prefix', key: 'agent:tool_calls:', max: 3, onReach: 'refuse' },
    { kind: 'prefix', key: 'agent:', max: 3 },
    { kind: 'prefix', key: 'shop', max: 2.5 },
    { kind: 'prefix', key: '', max: 2 },
    exact('$self:shop:refunds', 1),
    exact('agent:wall_clock_ms', 0.5),
  ] as const)('accepts %j', (limit) => {
    expect(compileLimits({ definition: { custom: [limit] } }).kind).toBe('limits');
  });
});
