/** Adds events of model calls to the view of an iteration. */
import { defined } from '../../core/base/defined.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { ModelCallView } from './iteration-view.ts';
import type { ViewDraft } from './view-draft.ts';

type After = Extract<AgentEvent, { readonly type: 'agent:model_call:after' }>;

/** Adds `event` to `view`, if it is about a model call. */
export function addModelEvent({ models }: ViewDraft, event: AgentEvent): void {
  switch (event.type) {
    case 'agent:model_call:before': {
      const { seq, at, model, purpose, callId, messages } = event;
      return models.add({
        seq,
        model,
        purpose,
        ...defined({ callId }),
        messages,
        from: at,
        attempts: 1,
        losses: 0,
        failures: [],
      });
    }
    case 'agent:model_attempt_failed': {
      const { attempt, code, message, status, retryInMs, at, purpose, callId } = event;
      const failure = { attempt, code, message, retryInMs, at };
      const failed = status === undefined ? failure : { ...failure, status };
      const isMeant = (call: ModelCallView): boolean =>
        call.to === undefined && call.purpose === purpose && call.callId === callId;
      return models.changeLast(isMeant, (call) => ({
        ...call,
        attempts: attempt + 1,
        failures: [...call.failures, failed],
      }));
    }
    case 'agent:model_call:after':
      return addEnd(models, event);
    default:
  }
}

/** A call that a tool or a validator reports has no beginning: it is shown as of its end. */
function addEnd(models: ViewDraft['models'], event: After): void {
  const { began, at, durationMs, model, purpose, callId } = event;
  if (began !== undefined && models.has(began)) {
    return models.change(began, (call) => ended(call, event));
  }
  const reported: ModelCallView = {
    seq: event.seq,
    model,
    purpose,
    ...defined({ callId }),
    from: at - durationMs,
    attempts: 1,
    losses: 0,
    failures: [],
  };
  models.add(ended(reported, event));
}

function ended(call: ModelCallView, event: After): ModelCallView {
  const { at, durationMs, firstTokenMs, usage, usageKnown, attempts, losses = 0 } = event;
  const { finishReason, error } = event;
  return {
    ...call,
    model: event.model,
    to: at,
    durationMs,
    usage,
    usageKnown,
    attempts,
    losses,
    ...defined({
      firstTokenMs,
      finishReason,
      error: error?.message,
      isCanceled: error?.code === 'aborted' ? (true as const) : undefined,
    }),
  };
}
