/**
 * One question to a model and its fallbacks: limited, recorded and counted, whatever it is for.
 * Asynchronous, like `work.ts`, of which it is a part.
 */
import type { SummaryOrder } from '../contract/compaction.ts';
import { wouldCross } from '../limits/breach.ts';
import type { ModelPurpose, OutputStrategy, Reply } from '../contract/model.ts';
import type { Numbers } from '../contract/stats.ts';
import { leaving } from '../run/ending.ts';
import type { EventBody } from '../contract/events.ts';
import type { Host } from '../run/host.ts';
import type { InlineRequest, ModelOrder, OwnRequest } from '../contract/host-order.ts';
import type { ModelLoss, ModelOutcome } from '../contract/host-outcome.ts';
import { makeRoom } from '../run/make-room.ts';
import { isInterrupted, isStopped, type Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';
import type { OpenCount } from '../run/open-count.ts';

/** What an iteration remembers of its questions. */
export interface Tries {
  /** Tries of replies so far, over fallbacks and repeated questions. */
  count: number;
  /** Whether a request of it was too long already, so that a compaction was forced. */
  isForced: boolean;
}

/** The question of an LLM tool; how it is written depends on the model and on what that refused. */
export interface InlineAsking {
  readonly callId: string;
  /** Undefined: no output is asked for, only text. */
  readonly request: (strategy: OutputStrategy | undefined, model: string) => InlineRequest;
  /** Whether a JSON output is asked for. */
  readonly asksForOutput: boolean;
  /** Whether the question can be ended alone, by the id of its call. */
  readonly isSeparate: boolean;
  /** Whether nobody needs the answer any more. */
  readonly isDropped: () => boolean;
}

/** A question: what for, and to which models. */
export interface Asking {
  readonly purpose: ModelPurpose;
  /** Ids of model entries in the order in which they are tried. */
  readonly models: readonly string[];
  /** Messages of the scratchpad that it is about, for the event. */
  readonly messages: number;
  /** A question in a loop's own words. */
  readonly own?: OwnRequest;
  /** The question of an LLM tool. */
  readonly inline?: InlineAsking;
  /** What is to be summed up, for the purpose `compaction`. */
  readonly summary?: SummaryOrder;
  readonly tries: Tries;
}

/** How a question ended, if nobody stopped it: a reply, or the last failure. */
export type AskEnd =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/**
 * Asks the models in turn. Leaves by a throw when a cancel, a breach or an interrupt waits. Chained by
 * hand: in the sandbox an `async` function and its `await` cost a promise more, and this is asked in
 * every iteration.
 */
export function askModels(run: Run, host: Host, open: OpenCount, asking: Asking): Promise<AskEnd> {
  const leaveIfOver = (): void => {
    leaveIfAsked(run, host);
    if (asking.inline?.isDropped() === true) throw leaving({ kind: 'stopped' });
  };
  leaveIfOver();
  return askFrom(0, NO_MODEL);

  function askFrom(place: number, last: AskFailure): Promise<AskEnd> {
    const model = asking.models[place];
    if (model === undefined) return Promise.resolve(last);
    const room = makeRoom(run, host, needsOf(model));
    if (room === undefined) return callIn(model, place, last);
    return room.then(() => callIn(model, place, last));
  }

  function callIn(model: string, place: number, last: AskFailure): Promise<AskEnd> {
    // More may be spent and reserved than was given to this run.
    leaveIfOver();
    const order = beginModelCall(run, host, open, model, asking);
    const callAfter = (outcome: ModelOutcome): EventBody =>
      modelCallAfter(order, outcome, host.now() - order.time, asking.inline?.callId);
    open.count += 1;
    open.models.push(model);
    // What attempts have cost is counted when the call ends, but it binds from the first one on.
    const mayRetry = (lost: ModelLoss): boolean => !run.wouldBreach(callAfter(lost));
    const abortId = asking.inline?.isSeparate === true ? asking.inline.callId : undefined;
    return host.callModel(order, run.state, { mayRetry, abortId }).then((outcome) => {
      open.count -= 1;
      open.models.splice(open.models.indexOf(model), 1);
      run.record(callAfter(outcome));
      // Chunks are told apart by the try; summaries do not stream.
      if (asking.purpose !== 'compaction') asking.tries.count += outcome.attempts;
      if (outcome.kind === 'reply') return outcome;
      leaveIfOver();
      if (outcome.kind === 'aborted') return askFrom(place + 1, last);
      const { code, message } = outcome;
      const plainer = downgradeOf(order, outcome);
      if (plainer !== undefined) {
        run.record({ type: 'agent:structured_output_downgraded', model, ...plainer });
        return askFrom(place, last);
      }
      const isFinal = code !== 'model_error' && code !== 'model_auth';
      const failure: AskFailure = { kind: 'failed', code, message };
      return isFinal ? failure : askFrom(place + 1, failure);
    });
  }
}

type AskFailure = Extract<AskEnd, { readonly kind: 'failed' }>;

const NO_MODEL: AskFailure = {
  kind: 'failed',
  code: 'model_error',
  message: 'no model answered',
};

/** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
export function leaveIfAsked(run: Run, host: Host): void {
  if (isStopped(run, host)) throw leaving({ kind: 'stopped' });
  if (isInterrupted(host)) throw leaving({ kind: 'interrupted' });
}

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
function beginModelCall(
  run: Run,
  host: Host,
  open: OpenCount,
  model: string,
  asking: Asking,
): ModelOrder {
  const { state } = run;
  const keys = ['agent:model_calls', `agent:model_calls:${model}`];
  const crossed = run.wouldCross(keys, callsInFlight(open, model));
  if (crossed !== null) {
    run.breach(crossed);
    throw leaving({ kind: 'stopped' });
  }
  const { purpose, messages, summary, own, inline } = asking;
  const { mark, head } = state;
  const isOwn = own === undefined ? {} : { own: true as const };
  const caller = inline === undefined ? {} : { callId: inline.callId };
  const strategy = strategyOf(state, model, asking);
  run.record({ type: 'agent:model_call:before', model, purpose, messages, ...isOwn, ...caller });
  return {
    agent: head.spec.name,
    runId: state.runId,
    ...(state.parent === undefined ? {} : { rootRunId: state.parent.rootRunId }),
    agentPath: state.agentPath,
    model,
    purpose,
    iteration: state.iteration,
    triesBefore: asking.tries.count,
    lastTurn: wouldCross(state.limits, state.stats, ['agent:iterations']) !== null,
    time: host.now(),
    transcript: mark,
    ...strategy,
    ...(summary === undefined ? {} : { summary }),
    ...(own === undefined ? {} : { own }),
    ...(inline === undefined ? {} : { inline: inline.request(strategy.structuredOutput, model) }),
  };
}

/** How an output is asked for as JSON: as the entry says, or as a refusal left it. */
function strategyOf(
  { head, structuredOutputs }: RunState,
  model: string,
  { purpose, own: question, inline }: Asking,
): Pick<ModelOrder, 'structuredOutput'> {
  // A question in a loop's own words asks for no output, nor does a summary.
  const asksForOutput =
    inline?.asksForOutput ??
    (head.spec.mode === 'json' &&
      purpose === 'reply' &&
      (question === undefined || question.conversation === true));
  if (!asksForOutput) return {};
  const models = inline === undefined ? head.spec.models : (head.spec.toolModels ?? []);
  const own = models.find(({ id }) => id === model)?.structuredOutput;
  return { structuredOutput: structuredOutputs?.[model] ?? own ?? 'prompt' };
}

/** What is asked for instead when a provider refuses a schema or a forced call. */
const PLAINER: { readonly [strategy in OutputStrategy]?: OutputStrategy } = {
  schema: 'tool',
  tool: 'prompt',
};

/** A provider that knows neither schemas nor forced calls says 400, an adapter says nothing of HTTP. */
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
  const { attempts } = outcome;
  const { usage, usageKnown } = outcome.kind === 'reply' ? outcome.reply : outcome;
  const shown = {
    type: 'agent:model_call:after' as const,
    model,
    purpose,
    usage,
    usageKnown,
    attempts,
    durationMs,
    ...(own === undefined ? {} : { own: true as const }),
    ...(callId === undefined ? {} : { callId }),
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
