/**
 * What an event adds to metrics. Pure; `RECORDINGS` has an entry for each type. Events come at least
 * once, so sums serve operation; the exact ones are those of Steps.
 */
import {
  isOwnEvent,
  type AgentEvent,
  type EventBase,
  type EventBody,
  type EventPlace,
  type EventType,
} from '../core/contract/events.ts';
import { baseKeyOf } from './limit-keys.ts';
import type { Recording } from './metrics.ts';

type Event<Type extends EventBody['type']> = EventBase &
  Extract<EventBody, { readonly type: Type }>;

type RecordingsOf<Type extends EventType> = (
  event: Event<Type>,
  place: EventPlace,
) => readonly Recording[];

/** What each event adds; null: nothing. */
const RECORDINGS: { readonly [Type in EventType]: RecordingsOf<Type> | null } = {
  'agent:execution:before': null,
  'agent:execution:after': runEnd,
  'agent:execution:handover': ({ agent }, { historyBytes }) => [
    { metric: 'everloop_handovers_total', value: 1, labels: { agent } },
    { metric: 'everloop_handover_bytes', value: historyBytes, labels: { agent } },
  ],
  'agent:turn:before': null,
  'agent:turn:after': null,
  'agent:iteration:before': null,
  'agent:iteration:after': ({ agent, durationMs }) => [
    seconds('everloop_turn_duration_seconds', durationMs, { agent }),
  ],
  'agent:model_call:before': null,
  // The activity counts attempts: it knows how each ended.
  'agent:model_attempt_failed': null,
  'agent:model_call:after': modelCall,
  'agent:structured_output_downgraded': null,
  'agent:model_changed': null,
  'agent:turn:read': null,
  'agent:section:read': null,
  'agent:parse_error': null,
  'agent:tool_call:before': null,
  'agent:tool_call:after': ({ agent, tool, outcome, durationMs }) => [
    seconds('everloop_tool_call_duration_seconds', durationMs, { agent, tool, outcome }),
  ],
  'agent:program:before': null,
  'agent:program:after': null,
  'agent:child:spawn': null,
  'agent:child:report': null,
  'agent:child:granted': null,
  'agent:child:complete': null,
  'agent:lease:asked': null,
  'agent:lease:answered': null,
  'agent:deadlines:changed': null,
  'agent:question:asked': null,
  'agent:question:answered': ({ agent, waitedMs }) => wait(agent, 'question', waitedMs),
  'agent:approval:requested': null,
  'agent:approval:decided': ({ agent, waitedMs }) => wait(agent, 'approval', waitedMs),
  'agent:external:begun': null,
  'agent:external:ended': ({ agent, waitedMs }) => wait(agent, 'external', waitedMs),
  'agent:approval:revoked': null,
  'agent:waiting': null,
  'agent:validator:called': null,
  'agent:validator:result': null,
  'agent:answer:judged': null,
  'agent:input': null,
  'agent:adjusted': null,
  'agent:paused': null,
  'agent:resumed': ({ agent, waitedMs }) => wait(agent, 'pause', waitedMs),
  'agent:iteration_history:change': null,
  'agent:scratchpad:change': null,
  'agent:compaction': null,
  'agent:data:change': null,
  'agent:limit_exceeded': ({ agent, key }) => [
    { metric: 'everloop_limits_hit_total', value: 1, labels: { agent, key: baseKeyOf(key) } },
  ],
  'agent:error': null,
  'agent:warning': null,
};

/** The recordings of `event`, in no order. */
export function metricsOf(event: AgentEvent, place: EventPlace): readonly Recording[] {
  if (isOwnEvent(event)) return [];
  // The compiler does not see that the entry is that of this type.
  const make = RECORDINGS[event.type] as RecordingsOf<EventType> | null;
  return make === null ? [] : make(event, place);
}

function runEnd(
  { agent, at, status, reason }: Event<'agent:execution:after'>,
  { startedAt }: EventPlace,
): readonly Recording[] {
  return [
    {
      metric: 'everloop_runs_ended_total',
      value: 1,
      labels: { agent, status, reason: baseKeyOf(reason) },
    },
    seconds('everloop_run_duration_seconds', at - startedAt, { agent, outcome: status }),
  ];
}

function modelCall(event: Event<'agent:model_call:after'>): readonly Recording[] {
  const { agent, model, purpose, usage, error, durationMs } = event;
  const tokens = {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached: usage.cachedInputTokens,
    reasoning: usage.reasoningTokens,
  };
  const outcome = error?.code ?? 'ok';
  return [
    ...Object.entries(tokens)
      .filter(([, count]) => count > 0)
      .map(([type, value]): Recording => {
        return { metric: 'everloop_tokens_total', value, labels: { agent, model, type } };
      }),
    ...(usage.costMicroUsd > 0
      ? [
          {
            metric: 'everloop_cost_micro_usd_total',
            value: usage.costMicroUsd,
            labels: { agent, model },
          } as const,
        ]
      : []),
    // What a tool or a validator reports has no duration of its own.
    ...(event.began === undefined && event.finishReason === undefined
      ? []
      : [
          seconds('everloop_model_call_duration_seconds', durationMs, {
            agent,
            model,
            purpose,
            outcome,
          }),
        ]),
  ];
}

function wait(agent: string, kind: string, waitedMs: number | undefined): readonly Recording[] {
  return waitedMs === undefined
    ? []
    : [seconds('everloop_waits_seconds', waitedMs, { agent, kind })];
}

function seconds(metric: Recording['metric'], ms: number, labels: Recording['labels']): Recording {
  return { metric, value: ms / 1_000, labels };
}
