/** Arbitrary events, states and limits for laws. */
import fc from 'fast-check';
import type { AgentEvent, EventBody } from '../../src/core/contract/events.ts';
import type { ApprovalItem, QuestionItem } from '../../src/core/contract/pending.ts';
import { startState, type Carried, type RunState } from '../../src/core/run/run-state.ts';
import type { Limit } from '../../src/core/contract/limit.ts';
import { textMessage } from '../../src/core/base/message.ts';
import { reactSpec } from '../core/runs/spec-fixture.ts';

const count = fc.nat({ max: 1_000 });
const name = fc.constantFrom('search', 'other', '(unknown)');
const model = fc.constantFrom('m', 'n');
const reports = fc.record(
  {
    counts: fc.dictionary(fc.constantFrom('shop:a', 'shop:b'), count),
    gauges: fc.dictionary(fc.constantFrom('shop:c', 'shop:d'), fc.integer()),
  },
  { requiredKeys: [] },
);

/** What a recorded event brings, with its body. */
export interface Recorded {
  readonly body: EventBody;
  readonly carried: Carried;
}

const bare = (body: fc.Arbitrary<EventBody>): fc.Arbitrary<Recorded> =>
  body.map((one) => ({ body: one, carried: {} }));

const limit: fc.Arbitrary<Limit> = fc
  .tuple(
    fc.constantFrom('exact' as const, 'prefix' as const),
    fc.constantFrom(
      'agent:iterations',
      '$self:agent:iterations',
      'agent:tool_calls',
      'agent:tool_calls:',
      'agent:total_tokens',
      'agent:format_parse_error_consecutive',
      'shop:',
    ),
    fc.nat({ max: 2_000 }),
  )
  .map(([kind, key, max]) => ({ kind, key, max }));

/** Some limits, in list order. */
export const limitsArbitrary: fc.Arbitrary<readonly Limit[]> = fc.array(limit, { maxLength: 4 });

/** An event of any kind that moves statistics or state, and what it carries. */
const recordedArbitrary: fc.Arbitrary<Recorded> = fc.oneof(
  bare(fc.constant({ type: 'agent:iteration:before' })),
  bare(
    fc.record({
      type: fc.constant('agent:model_call:after' as const),
      model,
      purpose: fc.constant('reply' as const),
      usage: fc.record({
        inputTokens: count,
        outputTokens: count,
        cachedInputTokens: count,
        cacheWriteTokens: count,
        reasoningTokens: count,
        costMicroUsd: count,
      }),
      usageKnown: fc.boolean(),
      attempts: fc.integer({ min: 0, max: 8 }),
      durationMs: count,
    }),
  ),
  bare(
    fc
      .record({
        type: fc.constant('agent:tool_call:after' as const),
        callId: fc.constant('1.1'),
        tool: name,
        args: fc.constant({}),
        outcome: fc.constantFrom(
          'ok' as const,
          'error' as const,
          'rejected' as const,
          'denied' as const,
          'refused' as const,
          'unknown' as const,
          'canceled' as const,
        ),
        started: fc.boolean(),
        attempts: fc.constant(1),
        durationMs: count,
      })
      .chain((call) => reports.map((reported) => ({ ...call, ...reported }))),
  ),
  bare(
    fc.record({
      type: fc.constant('agent:parse_error' as const),
      family: fc.constantFrom(
        'format' as const,
        'toolchain' as const,
        'section' as const,
        'termination' as const,
      ),
      problems: fc.constant([]),
      raw: fc.constant(''),
    }),
  ),
  bare(
    fc.record({
      type: fc.constant('agent:turn:read' as const),
      kind: fc.constantFrom('calls' as const, 'answer' as const),
      blocks: fc.constant({}),
    }),
  ),
  bare(
    fc.record({
      type: fc.constant('agent:validator:result' as const),
      validator: fc.constantFrom('v', 'w'),
      accepted: fc.boolean(),
    }),
  ),
  bare(limitsArbitrary.map((limits) => ({ type: 'agent:adjusted' as const, limits }))),
  bare(
    limit.map((crossed) => ({
      type: 'agent:limit_exceeded' as const,
      limit: crossed,
      key: crossed.key,
      value: crossed.max + 1,
      origin: 'self' as const,
    })),
  ),
  bare(fc.constantFrom<EventBody>({ type: 'agent:paused' }, { type: 'agent:resumed' })),
  waitArbitrary(),
  bare(
    fc.constant<EventBody>({
      type: 'agent:compaction',
      strategy: 'mask',
      lengthBefore: 1,
      lengthAfter: 1,
      tokensBefore: 9,
      tokensAfter: 5,
      epoch: 2,
      durationMs: 0,
    }),
  ),
  fc.tuple(fc.string(), fc.boolean(), count).map(([text, replaces, index]): Recorded => {
    const entry = {
      index,
      iteration: 1,
      origin: 'original' as const,
      messages: [textMessage('user', text)],
    };
    const body: EventBody = {
      type: 'agent:scratchpad:change',
      epoch: 1,
      lengthBefore: 0,
      lengthAfter: index,
      added: 1,
      removed: 0,
    };
    return { body, carried: replaces ? { scratchpad: [entry] } : { entry } };
  }),
  fc.jsonValue().map((data): Recorded => ({
    body: { type: 'agent:data:change', bytes: 0 },
    carried: { data: JSON.parse(JSON.stringify(data)) as NonNullable<Carried['data']> },
  })),
);

/** What happens to the few items that wait, in any order. */
function waitArbitrary(): fc.Arbitrary<Recorded> {
  const item: QuestionItem = {
    kind: 'question',
    id: 'q1',
    callId: '1.1',
    since: 0,
    question: 'Which?',
    free: false,
  };
  const approval: ApprovalItem = {
    kind: 'approval',
    id: '1.2',
    callId: '1.2',
    since: 0,
    tool: 'search',
    args: {},
  };
  const before = { callId: '1.2', tool: 'search', args: {} };
  return fc.constantFrom<Recorded>(
    { body: { type: 'agent:question:asked', questionId: 'q1', text: 'Which?' }, carried: { item } },
    { body: { type: 'agent:question:answered', questionId: 'q1' }, carried: {} },
    { body: { type: 'agent:approval:requested', ...before }, carried: { item: approval } },
    {
      body: { type: 'agent:approval:decided', callId: '1.2', decision: 'deny' },
      carried: {},
    },
    { body: { type: 'agent:tool_call:before', ...before }, carried: {} },
    { body: { type: 'agent:waiting' }, carried: {} },
    { body: { type: 'agent:iteration:after', outcome: 'continue', durationMs: 1 }, carried: {} },
  );
}

/** Events in a row, at times that never fall. */
export const eventsArbitrary: fc.Arbitrary<
  readonly { readonly event: AgentEvent; readonly carried: Carried }[]
> = fc.array(fc.tuple(recordedArbitrary, fc.nat({ max: 500 })), { maxLength: 30 }).map((rows) => {
  let at = 0;
  let iteration = 0;
  return rows.map(([{ body, carried }, step], index) => {
    at += step;
    if (body.type === 'agent:iteration:before') iteration += 1;
    const event: AgentEvent = {
      ...body,
      seq: index + 1,
      runId: 'run-1',
      agent: 'tester',
      agentPath: 'tester',
      at,
      iteration,
      depth: 0,
    };
    return { event, carried };
  });
});

/** A state in which nothing has happened. */
export function freshState(): RunState {
  const identity = { runId: 'run-1', agentPath: 'tester', depth: 0, startedAt: 0 };
  const triggers = [{ kind: 'counter_prefix', prefix: 'agent:', step: 5 }] as const;
  const spec = reactSpec({ compaction: { triggers, strategies: [] } });
  return startState(identity, { spec, task: { text: 'Go' } });
}
