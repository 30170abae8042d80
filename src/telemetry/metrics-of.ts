/**
 * What an event adds to metrics. Pure; a `switch` with a case for each type. Events come at least
 * once, so sums serve operation; the exact ones are those of Steps.
 */
import type { AgentEvent, EventBase, EventBody, OwnEventType } from '../core/contract/events.ts';
import { isOwnEvent } from '../core/contract/events.ts';
import type { EventPlace } from '../core/contract/trace.ts';
import { baseKeyOf } from './limit-keys.ts';
import type { Recording } from './metrics.ts';

type Known = Exclude<AgentEvent, { readonly type: OwnEventType }>;
type Event<Type extends EventBody['type']> = EventBase &
  Extract<EventBody, { readonly type: Type }>;

/** The recordings of `event`, in no order. */
export function metricsOf(event: AgentEvent, place: EventPlace): readonly Recording[] {
  return isOwnEvent(event) ? [] : recordingsOf(event, place);
}

function recordingsOf(event: Known, place: EventPlace): readonly Recording[] {
  const { agent } = event;
  switch (event.type) {
    case 'agent:execution:after':
      return runEnd(event, place);
    case 'agent:execution:handover':
      return [
        { metric: 'everloop_handovers_total', value: 1, labels: { agent } },
        { metric: 'everloop_handover_bytes', value: place.historyBytes, labels: { agent } },
      ];
    case 'agent:iteration:after':
      return [seconds('everloop_turn_duration_seconds', event.durationMs, { agent })];
    case 'agent:model_call:after':
      return modelCall(event);
    case 'agent:tool_call:after':
      return [
        seconds('everloop_tool_call_duration_seconds', event.durationMs, {
          agent,
          tool: event.tool,
          outcome: event.outcome,
        }),
      ];
    case 'agent:limit_exceeded':
      return [
        {
          metric: 'everloop_limits_hit_total',
          value: 1,
          labels: { agent, key: baseKeyOf(event.key) },
        },
      ];
    case 'agent:question:answered':
      return wait(agent, 'question', event.waitedMs);
    case 'agent:approval:decided':
      return wait(agent, 'approval', event.waitedMs);
    case 'agent:external:ended':
      return wait(agent, 'external', event.waitedMs);
    case 'agent:resumed':
      return wait(agent, 'pause', event.waitedMs);
    case 'agent:execution:before':
    case 'agent:iteration:before':
    case 'agent:model_call:before':
    case 'agent:model_attempt_failed':
    case 'agent:structured_output_downgraded':
    case 'agent:turn:read':
    case 'agent:section:read':
    case 'agent:parse_error':
    case 'agent:tool_call:before':
    case 'agent:program:before':
    case 'agent:program:after':
    case 'agent:child:spawn':
    case 'agent:child:report':
    case 'agent:child:granted':
    case 'agent:child:complete':
    case 'agent:lease:asked':
    case 'agent:lease:answered':
    case 'agent:deadlines:changed':
    case 'agent:question:asked':
    case 'agent:approval:requested':
    case 'agent:external:begun':
    case 'agent:waiting':
    case 'agent:validator:called':
    case 'agent:validator:result':
    case 'agent:answer:judged':
    case 'agent:input':
    case 'agent:adjusted':
    case 'agent:paused':
    case 'agent:iteration_history:change':
    case 'agent:scratchpad:change':
    case 'agent:compaction':
    case 'agent:data:change':
    case 'agent:error':
    case 'agent:warning':
      return [];
  }
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
  return waitedMs === undefined ? [] : [seconds('everloop_waits_seconds', waitedMs, { agent, kind })];
}

function seconds(
  metric: Recording['metric'],
  ms: number,
  labels: Recording['labels'],
): Recording {
  return { metric, value: ms / 1_000, labels };
}
