/** From an order and its transcript to the request: what the model activity asks a provider. */
import { defined } from '../base/defined.ts';
import { buildSummaryRequest } from './summary-request.ts';
import type { ModelRequest } from '../contract/model.ts';
import type { InlineRequest, ModelOrder } from '../contract/host-order.ts';
import type { TranscriptView } from '../contract/transcript.ts';
import type { RequestOptions } from '../modes/mode.ts';
import { buildRequest, modeOf } from '../modes/modes.ts';
import { requestOf } from '../modes/prompt.ts';

/** The request of an order that contains all of it; `attempt` counts from 1. */
export function inlineRequest(
  { agent, runId, iteration }: ModelOrder,
  inline: InlineRequest,
  attempt: number,
): ModelRequest {
  return { ...inline, agent, runId, iteration, attempt, settings: {} };
}

/** The request that `order` stands for. `made`: the parts that only the worker knows. */
export function requestOfOrder(
  { runId, iteration, lastTurn, summary, own, model, structuredOutput }: ModelOrder,
  { head, messages }: TranscriptView,
  made: Omit<RequestOptions, 'runId' | 'iteration' | 'lastTurn'>,
): ModelRequest {
  const isStrict = head.spec.models.find(({ id }) => id === model)?.strict === true;
  const options = {
    runId,
    iteration,
    lastTurn,
    ...defined({ structuredOutput, strict: isStrict ? true : undefined }),
    ...made,
  };
  if (summary !== undefined) return buildSummaryRequest(head, messages, summary, options);
  if (own === undefined) return buildRequest(head, messages, options);
  if (own.conversation === true) {
    return buildRequest(head, [...messages, ...own.messages], options);
  }
  return requestOf(head, options, [], modeOf(head.spec).writeMessages(head.spec, own.messages));
}
