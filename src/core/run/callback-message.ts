/** What an event of a run tells those who asked to be called back. */
import { defined } from '../base/defined.ts';
import {
  CALLBACK_EVENTS,
  CALLBACK_TYPES,
  WAITING_TYPES,
  type CallbackBody,
  type CallbackData,
  type CallbackSpec,
  type CallbackType,
} from '../contract/callback.ts';
import { isOwnEvent, type AgentEvent } from '../contract/events.ts';
import type { Step } from '../contract/step.ts';

/** The ids of a run and of the root of its tree. */
export type CallbackPlace = Pick<CallbackData, 'run' | 'root'>;

/** The callback about `event`; null if there is none, or `spec` does not ask for it. */
export function callbackOf(
  event: AgentEvent,
  { events, content }: CallbackSpec,
  place: CallbackPlace,
): CallbackBody | null {
  const type = CALLBACK_TYPES.find((type) => CALLBACK_EVENTS[type] === event.type);
  if (type === undefined || !events.includes(type)) return null;
  const { agent, seq, iteration, at } = event;
  const data = { ...place, agent, seq, iteration, ...detailsOf(event, content === true) };
  return bodyOf(type, at, data);
}

/** The callback about the end of a run that never began; null if `spec` does not ask for it. */
export function unstartedCallback(
  { status, reason, agent }: Pick<Step, 'status' | 'reason' | 'agent'>,
  { events }: CallbackSpec,
  place: CallbackPlace,
  at: number,
): CallbackBody | null {
  if (!events.includes('run.ended')) return null;
  return bodyOf('run.ended', at, { ...place, agent, iteration: 0, status, reason });
}

function bodyOf(type: CallbackType, at: number, data: CallbackData): CallbackBody {
  return { type, timestamp: new Date(at).toISOString(), data };
}

function detailsOf(event: AgentEvent, hasContent: boolean): Partial<CallbackData> {
  if (isOwnEvent(event)) return {};
  switch (event.type) {
    case 'agent:question:asked':
      return defined({ id: event.questionId, question: hasContent ? event.text : undefined });
    case 'agent:approval:requested':
    case 'agent:external:begun':
      return { id: event.callId, tool: event.tool };
    case 'agent:limit_exceeded':
      return { limit: { key: event.key, max: event.limit.max } };
    case 'agent:turn:after':
      return { turn: event.turn, status: event.step.status, reason: event.step.reason };
    case 'agent:execution:after':
      return { status: event.status, reason: event.reason };
    default:
      return {};
  }
}

/** What a child run inherits: the root's owner hears of all that waits for people in the tree. */
export function callbacksBelow(
  callbacks: readonly CallbackSpec[] | undefined,
): readonly CallbackSpec[] | undefined {
  const below = (callbacks ?? []).flatMap((callback) => {
    const events = callback.events.filter((type) => WAITING_TYPES.includes(type));
    return events.length === 0 ? [] : [{ ...callback, events }];
  });
  return below.length === 0 ? undefined : below;
}
