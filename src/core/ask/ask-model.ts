/** One question to a model and its fallbacks: limited, recorded and counted, whatever it is for. */
import { defined } from '../base/defined.ts';
import type { SummaryOrder } from '../contract/compaction.ts';
import { wouldCross } from '../limits/breach.ts';
import type { ModelPurpose, OutputStrategy, Reply } from '../contract/model.ts';
import type { Numbers } from '../contract/stats.ts';
import { leaving } from '../run/ending.ts';
import type { EventBody } from '../contract/events.ts';
import type { FailedAttempt, ModelLoss, ModelOutcome } from '../contract/host-outcome.ts';
import type { InlineRequest, ModelOrder, OwnRequest } from '../contract/host-order.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { leaveIfAsked } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';
import type { Iteration, OpenCount } from '../run/iteration.ts';
import { modeOf } from '../modes/modes.ts';

/** What an iteration remembers of its questions. */
export interface Tries {
  /** Attempts for replies so far, over fallbacks and repeated questions. */
  count: number;
  /** Whether a request was already too long once, so that a compaction was forced. */
  isForced: boolean;
}

/** The question of an LLM tool. Its form depends on the model and on what the model refused. */
export interface InlineAsking {
  readonly callId: string;
  /** With an undefined strategy, only text is requested. */
  readonly request: (strategy: OutputStrategy | undefined, model: string) => InlineRequest;
  /** Whether a JSON output is requested. */
  readonly asksForOutput: boolean;
  /** Whether the question can be aborted alone, by the id of its call. */
  readonly isSeparate: boolean;
}

/** A question: what it is for, and which models get it. */
export interface Asking {
  readonly purpose: ModelPurpose;
  /** Ids of model entries in the order in which they are tried. */
  readonly models: readonly string[];
  /** Messages of the scratchpad that it is about, for the event. */
  readonly messages: number;
  /** A request that a custom loop wrote itself. */
  readonly own?: OwnRequest | undefined;
  /** The question of an LLM tool. */
  readonly inline?: InlineAsking;
  /** What to summarize, for the purpose `compaction`. */
  readonly summary?: SummaryOrder;
  readonly tries: Tries;
}

/** How a question ended, unless it was left: a reply, or the last failure. */
export type AskEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/**
 * Asks the models in turn. Leaves by a throw when a cancel, a breach or an interrupt waits. The
 * promises are chained by hand: in the sandbox an `async` function and its `await` cost one promise
 * more, and every iteration runs this.
 */
export function askModels(iteration: Iteration, asking: Asking): Promise<AskEnd> {
  const { run, gate, open } = iteration;
  const callId = asking.inline?.callId;
  const leaveIfOver = (): void => {
    leaveIfAsked(run);
    if (callId !== undefined && gate.isUnneeded(callId)) throw leaving({ kind: 'stopped' });
  };
  leaveIfOver();
  return askFrom(0, NO_MODEL);

  function askFrom(index: number, last: AskFailure): Promise<AskEnd> {
    const model = asking.models[index];
    if (model === undefined) return Promise.resolve(last);
    const budget = ensureBudget(run, needsOf(model));
    if (budget === undefined) return call(model, index, last);
    return budget.then(() => call(model, index, last));
  }

  function call(model: string, index: number, last: AskFailure): Promise<AskEnd> {
    // More may be spent and reserved by now than this run was given.
    leaveIfOver();
    const order = beginModelCall(iteration, model, asking);
    const callAfter = (outcome: ModelOutcome): EventBody =>
      modelCallAfter(order, outcome, run.host.now() - order.time, callId);
    open.count += 1;
    open.models.push(model);
    // The cost of attempts is recorded when the call ends, but limits check it before each retry.
    const mayRetry = (lost: ModelLoss): boolean => !run.wouldBreach(callAfter(lost));
    const abortId = asking.inline?.isSeparate === true ? callId : undefined;
    const hasFallback = index + 1 < asking.models.length;
    const onFailedAttempt = (failed: FailedAttempt): void =>
      run.record({
        type: 'agent:model_attempt_failed',
        model,
        purpose: asking.purpose,
        ...defined({ callId }),
        ...failed,
      });
    const options = { mayRetry, abortId, hasFallback, onFailedAttempt };
    return run.host.callModel(order, run.state, options).then((outcome) => {
      open.count -= 1;
      open.models.splice(open.models.indexOf(model), 1);
      run.record(callAfter(outcome));
      // Attempts distinguish chunks; summaries do not stream.
      const tries = outcome.attempts + (outcome.losses ?? 0);
      if (asking.purpose !== 'compaction') asking.tries.count += tries;
      if (outcome.kind === 'reply') return outcome;
      leaveIfOver();
      if (outcome.kind === 'aborted') return askFrom(index + 1, last);
      const { code, message } = outcome;
      const plainer = downgradeOf(order, outcome);
      if (plainer !== undefined) {
        run.record({ type: 'agent:structured_output_downgraded', model, ...plainer });
        return askFrom(index, last);
      }
      const isFinal = code !== 'model_error' && code !== 'model_auth';
      const failure: AskFailure = { kind: 'failed', code, message };
      return isFinal ? failure : askFrom(index + 1, failure);
    });
  }
}

type AskFailure = Extract<AskEnd, { readonly kind: 'failed' }>;

const NO_MODEL: AskFailure = {
  kind: 'failed',
  code: 'model_error',
  message: 'no model answered',
};

/** Model calls in flight, and those of `model`, by base key. */
function callsInFlight({ models }: OpenCount, model: string): Numbers {
  return {
    'agent:model_calls': models.length,
    [`agent:model_calls:${model}`]: models.filter((other) => other === model).length,
  };
}

/** What one more call of `model` needs; those in flight are in the ledger. */
function needsOf(model: string): Numbers {
  return { 'agent:model_calls': 1, [`agent:model_calls:${model}`]: 1 };
}

/** Checks the limits of a model call and records its beginning. */
function beginModelCall({ run, open }: Iteration, model: string, asking: Asking): ModelOrder {
  const { state } = run;
  const keys = ['agent:model_calls', `agent:model_calls:${model}`];
  const crossed = run.wouldCross(keys, callsInFlight(open, model));
  if (crossed !== null) {
    run.breach(crossed);
    throw leaving({ kind: 'stopped' });
  }
  const { purpose, messages, summary, own, inline } = asking;
  const { mark, head } = state;
  const strategy = strategyOf(state, model, asking);
  run.record({
    type: 'agent:model_call:before',
    model,
    purpose,
    messages,
    ...marksOf(own, inline?.callId),
  });
  return defined({
    agent: head.spec.name,
    runId: state.runId,
    rootRunId: state.parent?.rootRunId,
    agentPath: state.agentPath,
    model,
    purpose,
    iteration: state.iteration,
    triesBefore: asking.tries.count,
    lastTurn: wouldCross(state.limits, state.stats, ['agent:iterations']) !== null,
    time: run.host.now(),
    transcript: mark,
    structuredOutput: strategy,
    summary,
    own,
    inline: inline?.request(strategy, model),
  });
}

/** The fields in the events of a model call that say who asked. */
function marksOf(
  own: OwnRequest | undefined,
  callId: string | undefined,
): { readonly own?: true; readonly callId?: string } {
  return defined({ own: own === undefined ? undefined : (true as const), callId });
}

/**
 * How JSON output is requested: by the entry, or by a downgrade after a refusal; undefined: not.
 */
function strategyOf(
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
function downgradeOf(
  { structuredOutput: from }: ModelOrder,
  { code, status }: Extract<ModelOutcome, { readonly kind: 'failed' }>,
): { readonly from: OutputStrategy; readonly to: OutputStrategy } | undefined {
  const isRefused = code === 'model_request_refused' && [undefined, 400, 422].includes(status);
  const to = from === undefined || !isRefused ? undefined : PLAINER[from];
  return from === undefined || to === undefined ? undefined : { from, to };
}

function modelCallAfter(
  { model, purpose, own }: ModelOrder,
  outcome: ModelOutcome,
  durationMs: number,
  callId: string | undefined,
): EventBody {
  const { attempts, losses } = outcome;
  const { usage, usageKnown } = outcome.kind === 'reply' ? outcome.reply : outcome;
  const shown = {
    type: 'agent:model_call:after' as const,
    model,
    purpose,
    usage,
    usageKnown,
    attempts,
    ...defined({ losses }),
    durationMs,
    ...marksOf(own, callId),
  };
  switch (outcome.kind) {
    case 'reply':
      return { ...shown, finishReason: outcome.reply.finishReason };
    case 'aborted':
      return { ...shown, error: { code: 'aborted', message: 'canceled before it finished' } };
    case 'failed':
      return { ...shown, error: { code: outcome.code, message: outcome.message } };
  }
}
