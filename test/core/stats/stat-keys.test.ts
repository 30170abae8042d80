import { describe, expect, test } from 'vitest';
import {
  isSelf,
  self,
  STAT_KEYS,
  statKeyInfo,
  statRowsUnder,
  withoutSelf,
} from '../../../src/core/stats/stat-keys.ts';

describe('the table of statistics', () => {
  test('holds every counter and gauge once, counters first', () => {
    const counters = STAT_KEYS.filter((row) => row.kind === 'counter').map((row) => row.key);
    const gauges = STAT_KEYS.filter((row) => row.kind === 'gauge').map((row) => row.key);

    expect(counters).toEqual([
      'agent:iterations',
      'agent:model_calls',
      'agent:model_call_retries',
      'agent:input_tokens',
      'agent:output_tokens',
      'agent:total_tokens',
      'agent:input_tokens_cached',
      'agent:reasoning_tokens',
      'agent:cost_microusd',
      'agent:estimated_tokens',
      'agent:estimated_output_tokens',
      'agent:estimated_cost',
      'agent:unreported_calls',
      'agent:hosted_calls',
      'agent:hosted_calls_unpriced',
      'agent:tool_calls',
      'agent:tool_calls_error_total',
      'agent:tool_calls_error',
      'agent:lost_attempts',
      'agent:format_parse_error_total',
      'agent:toolchain_parse_error_total',
      'agent:termination_parse_error_total',
      'agent:section_parse_error_total',
      'agent:answer_rejected_total',
      'agent:answer_rejected_by',
      'agent:code_executions',
      'agent:code_executions_error',
      'agent:program_steps',
      'agent:compactions',
      'agent:children',
      'agent:questions',
      'agent:approvals_requested',
      'agent:approvals_denied',
    ]);
    expect(gauges).toEqual([
      'agent:format_parse_error_consecutive',
      'agent:toolchain_parse_error_consecutive',
      'agent:section_parse_error_consecutive',
      'agent:termination_parse_error_consecutive',
      'agent:tool_calls_error_consecutive',
      'agent:repeated_calls',
      'agent:code_executions_error_consecutive',
      'agent:input_tokens_last_iteration',
      'agent:output_tokens_last_iteration',
      'agent:total_tokens_last_iteration',
      'agent:scratchpad_length',
      'agent:wall_clock_ms',
      'agent:active_ms',
      'agent:depth',
    ]);
    expect(STAT_KEYS.map((row) => row.key)).toEqual([...counters, ...gauges]);
  });

  test('lets limits refuse work where one piece can be left out', () => {
    const refusable = STAT_KEYS.filter((row) => row.refusable === true).map((row) => row.key);

    expect(refusable).toEqual([
      'agent:tool_calls',
      'agent:code_executions',
      'agent:children',
      'agent:questions',
      'agent:depth',
    ]);
  });
});

describe('the twin of a counter', () => {
  test.each([
    { key: 'agent:tool_calls', twin: '$self:agent:tool_calls' },
    { key: '$self:agent:tool_calls', twin: '$self:agent:tool_calls' },
    { key: 'shop:refunds', twin: '$self:shop:refunds' },
  ])('of $key is $twin', ({ key, twin }) => {
    expect(self(key)).toBe(twin);
    expect(isSelf(twin)).toBe(true);
    expect(withoutSelf(twin)).toBe(withoutSelf(key));
  });

  test('is told by its prefix', () => {
    expect(isSelf('agent:tool_calls')).toBe(false);
  });
});

describe('statKeyInfo', () => {
  const rowOf = (key: string): (typeof STAT_KEYS)[number] | undefined =>
    STAT_KEYS.find((row) => row.key === key);

  test.each([
    { key: 'agent:iterations', row: 'agent:iterations', self: false, name: undefined },
    { key: '$self:agent:iterations', row: 'agent:iterations', self: true, name: undefined },
    { key: 'agent:tool_calls:search', row: 'agent:tool_calls', self: false, name: 'search' },
    { key: 'agent:tool_calls:(unknown)', row: 'agent:tool_calls', self: false, name: '(unknown)' },
    {
      key: '$self:agent:model_calls:a/b:c',
      row: 'agent:model_calls',
      self: true,
      name: 'a/b:c',
    },
    {
      key: 'agent:answer_rejected_by:judge',
      row: 'agent:answer_rejected_by',
      self: false,
      name: 'judge',
    },
  ])('knows $key', ({ key, row, self: isTwin, name }) => {
    expect(statKeyInfo(key)).toEqual({
      row: rowOf(row),
      self: isTwin,
      ...(name === undefined ? {} : { name }),
    });
  });

  test.each([
    'agent:iteration',
    'agent:iterations:search',
    'agent:answer_rejected_by',
    'agent:tool_calls_error',
    'agent:tool_calls:',
    'shop:refunds',
    '',
  ])('does not know %j', (key) => {
    expect(statKeyInfo(key)).toBeUndefined();
  });
});

describe('statRowsUnder', () => {
  test.each([
    { prefix: 'agent:tool_calls:', keys: ['agent:tool_calls'] },
    { prefix: 'agent:tool_calls:se', keys: ['agent:tool_calls'] },
    {
      prefix: 'agent:tool_calls',
      keys: [
        'agent:tool_calls',
        'agent:tool_calls_error_total',
        'agent:tool_calls_error',
        'agent:tool_calls_error_consecutive',
      ],
    },
    { prefix: '$self:agent:depth', keys: ['agent:depth'] },
    { prefix: 'agent:nothing', keys: [] },
  ])('finds the rows under $prefix', ({ prefix, keys }) => {
    expect(statRowsUnder(prefix).map((row) => row.key)).toEqual(keys);
  });
});
