/** How JSON output is requested from a model, and how once that was refused or ignored. */
import type { OutputStrategy, Reply } from '../contract/model.ts';
import type { ModelOutcome } from '../contract/host-outcome.ts';
import type { ModelOrder } from '../contract/host-order.ts';
import { modeOf } from '../modes/modes.ts';
import type { RunState } from '../run/run-state.ts';
import { callsOf, replyText } from '../contract/turn.ts';
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

/** What is requested instead when a provider refuses or ignores a schema or a forced call. */
const PLAINER: { readonly [strategy in OutputStrategy]?: OutputStrategy } = {
  schema: 'tool',
  tool: 'prompt',
};

/** A provider without schemas and forced calls refuses them, or answers a forced call in words. */
export function downgradeOf(
  { structuredOutput: from }: ModelOrder,
  outcome: ModelOutcome,
): { readonly from: OutputStrategy; readonly to: OutputStrategy } | undefined {
  if (from === undefined) return undefined;
  const isNotTaken =
    outcome.kind === 'reply' ? from === 'tool' && isInWords(outcome.reply) : isRefused(outcome);
  const to = isNotTaken ? PLAINER[from] : undefined;
  return to === undefined ? undefined : { from, to };
}

function isInWords(reply: Reply): boolean {
  return (
    reply.finishReason === 'stop' && replyText(reply).trim() !== '' && callsOf(reply).length === 0
  );
}

/** Providers answer 400; the error of an adapter has no status. */
function isRefused(outcome: ModelOutcome): boolean {
  if (outcome.kind !== 'failed') return false;
  const { code, status } = outcome;
  return code === 'model_request_refused' && [undefined, 400, 422].includes(status);
}
