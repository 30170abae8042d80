import { describe, expect, it } from 'vitest';
import type { AgentEvent, EventBody, OwnEventBody } from '../../../src/core/contract/events.ts';
import { ownEvent } from '../../../src/core/run/turn-record.ts';
import { EMPTY_STATS, type Numbers, type Stats } from '../../../src/core/contract/stats.ts';
import { tally } from '../../../src/core/stats/tally.ts';

function eventOf(body: EventBody | OwnEventBody): AgentEvent {
  return {
    ...body,
    seq: 1,
    runId: 'run-1',
    agent: 'tester',
    agentPath: 'tester',
    at: 0,
    iteration: 1,
    depth: 2,
  };
}

/** Counters with their twins. */
function both(counters: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(counters).flatMap(([key, value]) => [
      [key, value],
      [`$self:${key}`, value],
    ]),
  );
}

const before: Stats = {
  counters: {},
  gauges: {
    'agent:format_parse_error_consecutive': 2,
    'agent:toolchain_parse_error_consecutive': 2,
    'agent:section_parse_error_consecutive': 2,
    'agent:termination_parse_error_consecutive': 2,
    'agent:tool_calls_error_consecutive': 2,
    'agent:tool_calls_error_consecutive:search': 1,
    'agent:tool_calls_error_consecutive:other': 1,
    'agent:input_tokens_last_iteration': 7,
    'agent:input_tokens_last_iteration:m': 7,
    'mine:tokens_last_iteration': 7,
  },
};

const usage = {
  inputTokens: 100,
  outputTokens: 20,
  cachedInputTokens: 30,
  cacheWriteTokens: 5,
  reasoningTokens: 4,
  costMicroUsd: 9,
};

const call = {
  type: 'agent:tool_call:after' as const,
  callId: '1.1',
  tool: 'search',
  args: {},
  started: true,
  attempts: 1,
  durationMs: 0,
};

interface Row {
  readonly name: string;
  readonly body: EventBody | OwnEventBody;
  readonly counters?: Numbers;
  readonly gauges?: Numbers;
}

const parseError = (family: 'format' | 'toolchain' | 'section' | 'termination'): Row => ({
  name: `a parse error of family ${family}`,
  body: { type: 'agent:parse_error', family, problems: [], raw: '' },
  counters: { [`agent:${family}_parse_error_total`]: 1 },
  gauges: { [`agent:${family}_parse_error_consecutive`]: 3 },
});

const failedCall = (outcome: 'error' | 'unknown'): Row => ({
  name: `a call that ended as ${outcome}`,
  body: { ...call, outcome },
  counters: {
    'agent:tool_calls': 1,
    'agent:tool_calls:search': 1,
    'agent:tool_calls_error_total': 1,
    'agent:tool_calls_error:search': 1,
  },
  gauges: {
    'agent:tool_calls_error_consecutive': 3,
    'agent:tool_calls_error_consecutive:search': 2,
  },
});

const unstartedCall = (outcome: 'rejected' | 'refused'): Row => ({
  name: `a call that was ${outcome}`,
  body: { ...call, outcome, started: false },
  counters: { 'agent:tool_calls_error_total': 1, 'agent:tool_calls_error:search': 1 },
  gauges: {
    'agent:tool_calls_error_consecutive': 3,
    'agent:tool_calls_error_consecutive:search': 2,
  },
});

const turnRead = (kind: 'calls' | 'program' | 'answer' | 'malformed'): EventBody => ({
  type: 'agent:turn:read',
  kind,
  blocks: {},
});

describe('tally', () => {
  it.each<Row>([
    {
      name: 'the begin of a run',
      body: { type: 'agent:execution:before', mode: 'react', limits: [] },
      gauges: { 'agent:depth': 2 },
    },
    {
      name: 'an iteration',
      body: { type: 'agent:iteration:before' },
      counters: { 'agent:iterations': 1 },
      gauges: {
        'agent:input_tokens_last_iteration': 0,
        'agent:input_tokens_last_iteration:m': 0,
      },
    },
    {
      name: 'a model call with two retries',
      body: {
        type: 'agent:model_call:after',
        model: 'm',
        purpose: 'reply',
        usage,
        usageKnown: true,
        attempts: 3,
        durationMs: 0,
      },
      counters: Object.fromEntries(
        Object.entries({
          model_calls: 1,
          model_call_retries: 2,
          input_tokens: 100,
          output_tokens: 20,
          total_tokens: 120,
          input_tokens_cached: 30,
          reasoning_tokens: 4,
          cost_microusd: 9,
        }).flatMap(([key, value]) => [
          [`agent:${key}`, value],
          [`agent:${key}:m`, value],
        ]),
      ),
      gauges: {
        'agent:input_tokens_last_iteration': 107,
        'agent:input_tokens_last_iteration:m': 107,
        'agent:output_tokens_last_iteration': 20,
        'agent:output_tokens_last_iteration:m': 20,
        'agent:total_tokens_last_iteration': 120,
        'agent:total_tokens_last_iteration:m': 120,
      },
    },
    parseError('format'),
    parseError('toolchain'),
    parseError('section'),
    parseError('termination'),
    {
      name: 'a turn with calls',
      body: turnRead('calls'),
      gauges: {
        'agent:format_parse_error_consecutive': 0,
        'agent:toolchain_parse_error_consecutive': 0,
      },
    },
    {
      name: 'a turn with a program',
      body: turnRead('program'),
      gauges: {
        'agent:format_parse_error_consecutive': 0,
        'agent:toolchain_parse_error_consecutive': 0,
      },
    },
    {
      name: 'a turn with an answer',
      body: turnRead('answer'),
      gauges: { 'agent:format_parse_error_consecutive': 0 },
    },
    {
      name: 'a turn with unreadable calls',
      body: { type: 'agent:turn:read', kind: 'malformed', family: 'toolchain', blocks: {} },
      gauges: { 'agent:format_parse_error_consecutive': 0 },
    },
    {
      name: 'a turn without sections',
      body: { type: 'agent:turn:read', kind: 'malformed', family: 'format', blocks: {} },
    },
    {
      name: 'a section that was read',
      body: { type: 'agent:section:read', name: 'notes' },
      gauges: { 'agent:section_parse_error_consecutive': 0 },
    },
    {
      name: 'an answer that was accepted',
      body: { type: 'agent:answer:judged', outcome: 'accepted' },
      gauges: { 'agent:termination_parse_error_consecutive': 0 },
    },
    {
      name: 'an answer that was rejected, and what a validator reports',
      body: {
        type: 'agent:answer:judged',
        outcome: 'rejected',
        counts: { 'shop:checks': 2 },
        gauges: { 'shop:score': 0.5 },
      },
      counters: { 'shop:checks': 2 },
      gauges: { 'agent:termination_parse_error_consecutive': 0, 'shop:score': 0.5 },
    },
    { name: 'an unfit answer', body: { type: 'agent:answer:judged', outcome: 'unfit' } },
    {
      name: 'a validator that rejects',
      body: { type: 'agent:validator:result', validator: 'v', accepted: false },
      counters: { 'agent:answer_rejected_total': 1, 'agent:answer_rejected_by:v': 1 },
    },
    {
      name: 'a validator that accepts',
      body: { type: 'agent:validator:result', validator: 'v', accepted: true },
    },
    {
      name: 'a call that ended well, and what a tool reports',
      body: {
        ...call,
        outcome: 'ok',
        counts: { 'shop:refunds': 3 },
        gauges: { 'shop:queue': 4 },
      },
      counters: { 'agent:tool_calls': 1, 'agent:tool_calls:search': 1, 'shop:refunds': 3 },
      gauges: {
        'agent:tool_calls_error_consecutive': 0,
        'agent:tool_calls_error_consecutive:search': 0,
        'shop:queue': 4,
      },
    },
    failedCall('error'),
    failedCall('unknown'),
    unstartedCall('rejected'),
    unstartedCall('refused'),
    { name: 'a call that was denied', body: { ...call, outcome: 'denied', started: false } },
    {
      name: 'a call that was canceled while it ran',
      body: { ...call, outcome: 'canceled' },
      counters: { 'agent:tool_calls': 1, 'agent:tool_calls:search': 1 },
    },
    {
      name: 'a call that was canceled before it ran',
      body: { ...call, outcome: 'canceled', started: false },
    },
    {
      name: 'a change of the scratchpad',
      body: {
        type: 'agent:scratchpad:change',
        epoch: 1,
        lengthBefore: 4,
        lengthAfter: 5,
        added: 1,
        removed: 0,
      },
      gauges: { 'agent:scratchpad_length': 5 },
    },
    {
      name: 'what a loop reports',
      body: ownEvent(
        { type: 'mine:x', data: null },
        { counts: { 'mine:x': 1 }, gauges: { 'mine:y': -2 } },
      ),
      counters: { 'mine:x': 1 },
      gauges: { 'mine:y': -2 },
    },
    {
      name: 'a compaction',
      body: {
        type: 'agent:compaction',
        strategy: 'mask',
        lengthBefore: 3,
        lengthAfter: 3,
        tokensBefore: 900,
        tokensAfter: 100,
        epoch: 2,
        durationMs: 0,
      },
      counters: { 'agent:compactions': 1 },
    },
    { name: 'a pause', body: { type: 'agent:paused' } },
    {
      name: 'a question',
      body: { type: 'agent:question:asked', questionId: 'q1', text: 'Which?' },
      counters: { 'agent:questions': 1 },
    },
    { name: 'its answer', body: { type: 'agent:question:answered', questionId: 'q1' } },
    {
      name: 'an approval',
      body: { type: 'agent:approval:requested', callId: '1.1', tool: 'search', args: {} },
      counters: { 'agent:approvals_requested': 1 },
    },
    {
      name: 'a denial',
      body: { type: 'agent:approval:decided', callId: '1.1', decision: 'deny', reason: 'no' },
      counters: { 'agent:approvals_denied': 1 },
    },
    {
      name: 'an edit',
      body: { type: 'agent:approval:decided', callId: '1.1', decision: 'edit' },
    },
    { name: 'the beginning of a wait', body: { type: 'agent:waiting' } },
  ])('[row 38] counts $name', ({ body, counters = {}, gauges = {} }) => {
    const after = tally(before, eventOf(body));

    expect(after).toEqual({ counters: both(counters), gauges: { ...before.gauges, ...gauges } });
  });

  it('[row 38] adds up per model', () => {
    const models = ['m', 'n', 'm'].map((model) =>
      eventOf({
        type: 'agent:model_call:after',
        model,
        purpose: 'reply',
        usage,
        usageKnown: true,
        attempts: 1,
        durationMs: 0,
      }),
    );

    const { counters } = models.reduce(tally, EMPTY_STATS);

    expect(counters).toMatchObject({
      'agent:model_calls': 3,
      'agent:model_calls:m': 2,
      'agent:model_calls:n': 1,
      '$self:agent:model_calls:m': 2,
    });
  });
});
