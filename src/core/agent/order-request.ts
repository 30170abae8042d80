/** From an order and its transcript to the request: what the model activity asks a provider. */
import { buildSummaryRequest } from '../compaction/summary-request.ts';
import type { ModelRequest } from '../model/model.ts';
import type { ModelOrder, TranscriptView } from './host.ts';
import type { RequestOptions } from './mode.ts';
import { buildRequest } from './modes/modes.ts';

/** The request that `order` stands for. `made`: what is known only where the model is asked. */
export function requestOfOrder(
  { runId, iteration, lastTurn, summary, model, structuredOutput }: ModelOrder,
  { head, messages }: TranscriptView,
  made: Omit<RequestOptions, 'runId' | 'iteration' | 'lastTurn'>,
): ModelRequest {
  const isStrict = head.spec.models.find(({ id }) => id === model)?.strict === true;
  const options = {
    runId,
    iteration,
    lastTurn,
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
    ...(isStrict ? { strict: true } : {}),
    ...made,
  };
  return summary === undefined
    ? buildRequest(head, messages, options)
    : buildSummaryRequest(head, messages, summary, options);
}
