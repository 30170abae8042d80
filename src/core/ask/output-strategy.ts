/** How JSON output is requested from a model, and what is requested after a refusal. */
import type { OutputStrategy } from '../contract/model.ts';
import type { ModelOutcome } from '../contract/host-outcome.ts';
import type { ModelOrder } from '../contract/host-order.ts';
import { modeOf } from '../modes/modes.ts';
import type { RunState } from '../run/run-state.ts';
import type { Asking } from './asking.ts';

/**
 * How JSON output is requested: by the entry, or by a downgrade after a refusal; undefined: not.
 */
export function strategyOf(
  { head, structuredOutputs }: RunState,
  model: string,
  { purpose, own: question, inline }: Asking,
): OutputStrategy | undefined {
  // Neither a request that a loop wrote itself nor a summary asks for a JSON output.
  const asksForOutput =
    inline?.asksForOutput ??
    (modeOf(head.spec).requestsJson &&
      purpose === 'reply' &&
      (question === undefined || question.conversation === true));
  if (!asksForOutput) return undefined;
  const models = inline === undefined ? head.spec.models : (head.spec.toolModels ?? []);
  const own = models.find(({ id }) => id === model)?.structuredOutput;
  return structuredOutputs?.[model] ?? own ?? 'prompt';
}

/** What is requested instead when a provider refuses a schema or a forced call. */
const PLAINER: { readonly [strategy in OutputStrategy]?: OutputStrategy } = {
  schema: 'tool',
  tool: 'prompt',
};

/**
 * A provider without schemas and forced calls answers 400; the error of an adapter has no status.
 */
export function downgradeOf(
  { structuredOutput: from }: ModelOrder,
  { code, status }: Extract<ModelOutcome, { readonly kind: 'failed' }>,
): { readonly from: OutputStrategy; readonly to: OutputStrategy } | undefined {
  const isRefused = code === 'model_request_refused' && [undefined, 400, 422].includes(status);
  const to = from === undefined || !isRefused ? undefined : PLAINER[from];
  return from === undefined || to === undefined ? undefined : { from, to };
}
