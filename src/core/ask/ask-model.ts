/** One question to a model and its fallbacks: limited, recorded and counted, whatever it is for. */
import { defined } from '../base/defined.ts';
import type { Reply } from '../contract/model.ts';
import type { Numbers } from '../contract/stats.ts';
import { leaving } from '../run/ending.ts';
import type { EventBody } from '../contract/events.ts';
import type { ModelLoss, ModelOutcome } from '../contract/host-outcome.ts';
import type { ModelOrder, OwnRequest } from '../contract/host-order.ts';
import type { ModelCallOptions } from '../run/host.ts';
import { leaveIfAsked, type Run } from '../run/run.ts';
import type { Iteration, OpenCount } from '../run/iteration.ts';
import type { CallCover, CallPlan } from '../tree/cover.ts';
import { afterRefusal } from '../attempt/model-attempts.ts';
import type { Asking } from './asking.ts';
import {
  coverAfter,
  ensureCallCover,
  isCutBy,
  isHeld,
  leaveCut,
  planCall,
  promptEstimate,
  startCover,
  type StartedCover,
} from './cover-call.ts';
import { hostedFields } from './hosted-calls.ts';
import { isLastTurn } from './last-turn.ts';
import { afterUnreported, unreportedFields, unreportedIn } from './unreported-usage.ts';
import { readsOrder } from './reads-order.ts';
import { downgradeOf, strategyOf } from './output-strategy.ts';

/** No model has answered: the last failure. */
export interface Unanswered {
  readonly kind: 'unanswered';
  readonly code: string;
  readonly message: string;
  /** The models that were not asked: a shorter request comes first. */
  readonly rest?: readonly string[];
}

/** Whether a question ended without a reply. */
export function isUnanswered(end: Reply | Unanswered): end is Unanswered {
  return 'kind' in end;
}

/** How a question ends, unless it is left. */
export type AskEnd = Reply | Unanswered;

/**
 * Asks the models in turn. Leaves by a throw when a cancel, a breach or an interrupt waits. The
 * promises are chained by hand: in the sandbox an `async` function and its `await` cost one promise
 * more, and every iteration runs this.
 */
export function askModels(iteration: Iteration, asking: Asking): Promise<AskEnd> {
  const { run, gate } = iteration;
  const callId = asking.inline?.callId;
  const leaveIfOver = (): void => {
    leaveIfAsked(run);
    if (callId !== undefined && gate.isUnneeded(callId)) throw leaving({ kind: 'stopped' });
  };
  leaveIfOver();
  return askFrom(0, NO_MODEL);

  function askFrom(index: number, last: Unanswered): Promise<AskEnd> {
    const model = asking.models[index];
    if (model === undefined) return Promise.resolve(last);
    const plan = planCall(run, asking, model);
    const budget = ensureCallCover(run, plan, needsOf(model));
    if (budget === undefined) return call({ model, plan }, index, last);
    return budget.then(() => call({ model, plan }, index, last));
  }

  function call(planned: PlannedCall, index: number, last: Unanswered): Promise<AskEnd> {
    // More may be spent and reserved by now than this run was given.
    leaveIfOver();
    const { model, plan } = planned;
    const hasFallback = index + 1 < asking.models.length;
    // Another call of the run may have started while this one waited.
    if (plan !== null && isHeld(run, plan)) return askFrom(index, last);
    return callModel(iteration, asking, { ...planned, hasFallback }, (order, outcome, isShort) => {
      // Attempts distinguish chunks; summaries do not stream.
      const tries = outcome.attempts + (outcome.losses ?? 0);
      if (asking.purpose !== 'compaction') asking.tries.count += tries;
      if (outcome.kind === 'reply') {
        const reply = withCallsBefore(asking, outcome.reply);
        if (asking.purpose === 'reply') takeReply(iteration, reply);
        askPlainer(run, model, order, outcome);
        return reply;
      }
      leaveIfOver();
      if (outcome.kind === 'aborted') return askFrom(index + 1, last);
      const { code, message } = outcome;
      // More may be free by now; if not, the limit ends the run.
      if (isShort) return askFrom(index, { kind: 'unanswered', code, message });
      if (askPlainer(run, model, order, outcome)) return askFrom(index, last);
      const failure: Unanswered = { kind: 'unanswered', code, message };
      const canShorten = asking.purpose === 'reply' && !asking.tries.isForced;
      switch (afterRefusal(outcome, { hasFallback, canShorten })) {
        case 'next_model':
          return askFrom(index + 1, failure);
        case 'shorten':
          return { ...failure, rest: asking.models.slice(index + 1) };
        case 'end':
          return failure;
      }
    });
  }
}

/** From now on asks for output in a plainer way, if the model did not take this one; false: it did. */
function askPlainer(run: Run, model: string, order: ModelOrder, outcome: ModelOutcome): boolean {
  const plainer = downgradeOf(order, outcome);
  if (plainer === undefined) return false;
  run.record({ type: 'agent:structured_output_downgraded', model, ...plainer });
  return true;
}

function takeReply({ run, open }: Iteration, reply: Reply): void {
  run.showReply(reply);
  open.notOffered = reply.notOffered;
}

/** A call of one model, and its budget if it is covered. */
interface PlannedCall {
  readonly model: string;
  readonly plan: CallPlan | null;
}

/**
 * Calls one model, and records the call. Leaves when a budget has no room for it or cut it.
 * `isShort`: what covers the call has no room for another attempt.
 */
function callModel(
  iteration: Iteration,
  asking: Asking,
  { model, plan, hasFallback }: PlannedCall & { readonly hasFallback: boolean },
  goOn: (order: ModelOrder, outcome: ModelOutcome, isShort: boolean) => Promise<AskEnd> | AskEnd,
): Promise<AskEnd> {
  const { run, open } = iteration;
  const callId = asking.inline?.callId;
  const cover = plan === null ? null : startCover(run, plan);
  const order = beginModelCall(iteration, model, asking, cover);
  const covered = cover === null ? undefined : run.state.covers?.at(-1)?.seq;
  const callAfter = (outcome: ModelOutcome, unreported: Unreported = {}): EventBody => ({
    ...modelCallAfter(order, outcome, run.host.now() - order.time, callId),
    ...hostedFields(outcome, run.state.head.spec.hosted),
    ...unreported,
  });
  open.count += 1;
  open.models.push(model);
  let cap = cover?.cap;
  let isShort = false;
  const after = (lost: ModelLoss): CallCover | null =>
    plan === null ? null : coverAfter(run, plan, { covered, lost });
  const options: ModelCallOptions = {
    abortId: asking.inline?.isSeparate === true ? callId : undefined,
    hasFallback,
    onFailedAttempt: (failed) =>
      run.record({
        type: 'agent:model_attempt_failed',
        model,
        purpose: asking.purpose,
        ...defined({ callId }),
        ...failed,
      }),
    // The cost of attempts is recorded when the call ends, but limits check it before each retry.
    mayRetry: (lost) => {
      const wouldBreach = run.wouldBreach(callAfter(lost));
      isShort = !wouldBreach && after(lost)?.kind === 'short';
      return !wouldBreach && !isShort;
    },
    promptEstimate: () => promptEstimate(run, asking, model),
    maxOutputAfter: (lost) => {
      const left = after(lost);
      cap = left?.kind === 'covered' ? left.cap : cap;
      return cap?.tokens;
    },
  };
  return run.host.callModel(order, run.state, options).then((outcome) => {
    open.count -= 1;
    open.models.splice(open.models.indexOf(model), 1);
    const policy = unreportedIn(run, outcome);
    const after = callAfter(outcome, unreportedFields(policy, outcome));
    run.record(after, defined({ covered, ordered: model }));
    afterUnreported(run, policy, model, outcome);
    holdReads(iteration, asking, outcome);
    if (cap !== undefined && outcome.kind === 'reply' && isCutBy(cap.tokens, outcome.reply)) {
      leaveCut(run, asking, outcome.reply, cap.bound);
    }
    return goOn(order, outcome, isShort);
  });
}

/** Keeps what ran beside a reply; counts at once what ran beside one that was thrown away. */
function holdReads({ reads }: Iteration, { tries }: Asking, outcome: ModelOutcome): void {
  const { lostReads = [] } = outcome;
  for (const { index } of lostReads) tries.lostReads = Math.max(tries.lostReads, index);
  reads.lose(lostReads);
  if (outcome.kind === 'reply' && outcome.reads !== undefined) reads.hold(outcome.reads);
}

/** The ids of calls that ran beside a reply which was thrown away are not given again. */
function withCallsBefore({ tries: { lostReads } }: Asking, reply: Reply): Reply {
  return lostReads === 0 ? reply : { ...reply, callsBefore: lostReads };
}

type Unreported = ReturnType<typeof unreportedFields>;

const NO_MODEL: Unanswered = {
  kind: 'unanswered',
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
function beginModelCall(
  { run, open }: Iteration,
  model: string,
  asking: Asking,
  cover: StartedCover | null,
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
  const strategy = strategyOf(state, model, asking);
  const mayRead = asking.reads === true && asking.tries.lostReads === 0;
  run.record(
    {
      type: 'agent:model_call:before',
      model,
      purpose,
      messages,
      ...marksOf(own, inline?.callId),
    },
    defined({ cover: cover?.needs }),
  );
  return defined({
    agent: head.spec.name,
    runId: state.runId,
    rootRunId: state.parent?.rootRunId,
    tenant: state.tenant,
    conversation: state.conversation,
    by: state.by ?? undefined,
    agentPath: state.agentPath,
    seq: run.state.seq,
    traceparent: state.trace?.parent,
    model,
    purpose,
    iteration: state.iteration,
    triesBefore: asking.tries.count,
    lastTurn: isLastTurn(state),
    time: run.host.now(),
    transcript: mark,
    maxOutputTokens: cover?.cap?.tokens,
    structuredOutput: strategy,
    summary,
    own,
    inline: inline?.request(strategy),
    reads: mayRead ? readsOrder(run) : undefined,
  });
}

/** The fields in the events of a model call that say who asked. */
function marksOf(
  own: OwnRequest | undefined,
  callId: string | undefined,
): { readonly own?: true; readonly callId?: string } {
  return defined({ own: own === undefined ? undefined : (true as const), callId });
}

type ModelCallAfter = Extract<EventBody, { readonly type: 'agent:model_call:after' }>;

function modelCallAfter(
  { model: ordered, purpose, own, seq }: ModelOrder,
  outcome: ModelOutcome,
  durationMs: number,
  callId: string | undefined,
): ModelCallAfter {
  const { attempts, losses } = outcome;
  const { usage, usageKnown } = outcome.kind === 'reply' ? outcome.reply : outcome;
  // The worker may have asked another one, which its function chose.
  const { model = ordered } = (outcome.kind === 'reply' && outcome.reply.prepared) || {};
  const shown = {
    type: 'agent:model_call:after' as const,
    model,
    purpose,
    ...defined({ began: seq }),
    usage,
    usageKnown,
    attempts,
    ...defined({ losses }),
    durationMs,
    ...defined({ estimated: outcome.estimated }),
    ...marksOf(own, callId),
  };
  switch (outcome.kind) {
    case 'reply': {
      const { reply, firstTokenMs } = outcome;
      return { ...shown, ...defined({ firstTokenMs }), finishReason: reply.finishReason };
    }
    case 'aborted':
      return { ...shown, error: { code: 'aborted', message: 'canceled before it finished' } };
    case 'failed':
      return { ...shown, error: { code: outcome.code, message: outcome.message } };
  }
}
