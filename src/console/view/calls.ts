/** Adds events of calls, approvals, outside work and children to the view of an iteration. */
import { defined } from '../../core/base/defined.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import { byOf } from './by-of.ts';
import type { CallView, ChildView, WaitView } from './iteration-view.ts';
import { waitKey, type ViewDraft } from './view-draft.ts';

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;

/** Adds `event` to `view`, if it is about a call. */
export function addCallEvent(view: ViewDraft, event: AgentEvent): void {
  switch (event.type) {
    case 'agent:tool_call:before':
      return ensureCall(view, event.callId, event.tool, event);
    case 'agent:tool_call:after':
      return addEnd(view, event);
    case 'agent:approval:requested': {
      const { callId, tool, at } = event;
      ensureCall(view, callId, tool, event);
      return view.waits.add(waitFor('approval', callId, tool, at));
    }
    case 'agent:approval:decided': {
      const { callId, decision, reason, at } = event;
      const change = { to: at, result: decision, ...defined({ reason }), ...byOf(event) };
      return endWait(view, 'approval', callId, change);
    }
    case 'agent:external:begun': {
      const { callId, tool, at } = event;
      return view.waits.add(waitFor('external', callId, tool, at));
    }
    case 'agent:external:ended': {
      const { callId, outcome, at } = event;
      return endWait(view, 'external', callId, { to: at, result: outcome, ...byOf(event) });
    }
    case 'agent:child:spawn': {
      const { callId, childId: id, childAgent: agent, at: from } = event;
      const child: ChildView = { id, agent, from, tokens: 0, costMicroUsd: 0 };
      ensureCall(view, callId, agent, { args: null, at: from });
      view.calls.change(callId, (call) => ({ ...call, child }));
      view.callOfChild.set(id, callId);
      return;
    }
    case 'agent:child:report':
    case 'agent:child:complete': {
      const callId = view.callOfChild.get(event.childId);
      if (callId !== undefined) view.calls.change(callId, (call) => afterChild(call, event));
      return;
    }
    default:
  }
}

function ensureCall(
  { calls }: ViewDraft,
  callId: string,
  tool: string,
  { args, at: from }: Pick<EventOf<'agent:tool_call:before'>, 'args' | 'at'>,
): void {
  if (!calls.has(callId)) calls.add({ callId, tool, args, from, attempts: 1, losses: 0 });
}

/** A call that was refused before it began has an end alone. */
function addEnd(view: ViewDraft, event: EventOf<'agent:tool_call:after'>): void {
  const { callId, tool, args, at, durationMs } = event;
  ensureCall(view, callId, tool, { args, at: at - durationMs });
  view.calls.change(callId, (call) => endedCall(call, event));
}

function endedCall(call: CallView, event: EventOf<'agent:tool_call:after'>): CallView {
  const { tool, args, at, durationMs, outcome, output, error, attempts, losses = 0 } = event;
  const { cut, cached, inProgram, repeats } = event;
  return {
    ...call,
    tool,
    args,
    to: at,
    durationMs,
    outcome,
    ...defined({ output, error }),
    attempts,
    losses,
    ...defined({ cut, cached, inProgram, repeats }),
  };
}

function waitFor(kind: WaitView['kind'], callId: string, tool: string, from: number): WaitView {
  return { kind, id: callId, callId, text: tool, from };
}

function endWait(
  { waits }: ViewDraft,
  kind: WaitView['kind'],
  callId: string,
  change: Partial<WaitView>,
): void {
  waits.change(waitKey(kind, callId), (wait) => ({ ...wait, ...change }));
}

function afterChild(
  call: CallView,
  event: EventOf<'agent:child:report' | 'agent:child:complete'>,
): CallView {
  if (call.child?.id !== event.childId) return call;
  const tokens = event.totals['agent:total_tokens'] ?? call.child.tokens;
  const costMicroUsd = event.totals['agent:cost_microusd'] ?? call.child.costMicroUsd;
  const child = { ...call.child, tokens, costMicroUsd };
  if (event.type === 'agent:child:report') return { ...call, child };
  const { at: to, status, reason } = event;
  // A loop that starts a child without a tool records no end of its call.
  const end = call.args === null && call.to === undefined ? { to } : {};
  return { ...call, ...end, child: { ...child, to, status, reason } };
}
