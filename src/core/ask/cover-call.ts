/**
 * Budget for a model call of a tree before it starts: its prompt and a little output must fit, and
 * its output is capped at what the budgets still pay.
 */
import { defined } from '../base/defined.ts';
import { byteSize, type Json } from '../base/json.ts';
import type { ModelOrder } from '../contract/host-order.ts';
import type { ModelLoss } from '../contract/host-outcome.ts';
import type { EstimatedUsage, Price, Reply } from '../contract/model.ts';
import type { ModelSpec } from '../contract/spec.ts';
import type { Numbers } from '../contract/stats.ts';
import { estimatedUsage } from '../model/estimated-usage.ts';
import { modeOf } from '../modes/modes.ts';
import { leaving } from '../run/ending.ts';
import { ensureBudget, requestMore } from '../run/ensure-budget.ts';
import type { Run } from '../run/run.ts';
import { scratchpadMessages, type RunState } from '../run/run-state.ts';
import {
  coverOf,
  isHeldByCalls,
  leastNeeds,
  mustCover,
  shortBreach,
  spentNeeds,
  usualNeeds,
  type CallCover,
  type CallPlan,
} from '../tree/cover.ts';
import { shortLeases, type Bound } from '../tree/ledger.ts';
import type { Asking } from './asking.ts';
import { promptTokens, requestTokens, tokensOf } from './context-tokens.ts';
import { isLastTurn } from './last-turn.ts';
import { requestOfOrder } from './order-request.ts';
import { strategyOf } from './output-strategy.ts';

/** A model call to cover; null when no budget of a tree is about its tokens or its cost. */
export function planCall(run: Run, asking: Asking, model: string): CallPlan | null {
  const { state } = run;
  if (!isInTree(state) || !mustCover(run.ledger, { model })) return null;
  const entry = entryOf(state, model);
  return {
    model,
    promptTokens: tokensAsked(run, asking, model),
    price: priceOf(state, entry),
    ownMaxTokens: entry?.maxOutputTokens,
    // A question of a mode has the run to itself.
    shares: asking.inline !== undefined || asking.own !== undefined,
  };
}

/** What a call costs at least that asks its provider, by estimate. */
export function promptEstimate(run: Run, asking: Asking, model: string): EstimatedUsage {
  return estimatedUsage(tokensAsked(run, asking, model), 0, entryOf(run.state, model)?.price);
}

/** Gets the budget that a call needs besides `counts`; undefined when there is no need to wait. */
export function ensureCallCover(
  run: Run,
  plan: CallPlan | null,
  counts: Numbers,
): Promise<void> | undefined {
  if (plan === null) return ensureBudget(run, counts);
  const budget = ensureBudget(run, { ...counts, ...leastNeeds(plan) });
  if (budget === undefined && tightLeases(run, plan).length === 0) return undefined;
  return Promise.resolve(budget).then(() => askForUsual(run, plan));
}

/** Whether a call must wait for others of its run. */
export function isHeld(run: Run, plan: CallPlan): boolean {
  return isHeldByCalls(run.ledger, leastNeeds(plan));
}

/** A call that may start. */
export type StartedCover = Extract<CallCover, { readonly kind: 'covered' }>;

/** How much of each budget a call gets that starts now. Leaves when one has no room for it. */
export function startCover(run: Run, plan: CallPlan): StartedCover {
  const cover = coverOf(run.ledger, plan);
  if (cover.kind === 'covered') return cover;
  run.breach(shortBreach(run.ledger, cover.bound, leastNeeds(plan)));
  throw leaving({ kind: 'stopped' });
}

/** What is left of the cover of a call after an attempt that cost tokens. */
export function coverAfter(
  run: Run,
  plan: CallPlan,
  { covered, lost }: { readonly covered: number | undefined; readonly lost: ModelLoss },
): CallCover {
  const others = (run.state.covers ?? []).filter(({ seq }) => seq !== covered);
  const covers = [
    ...others.map(({ needs }) => needs),
    spentNeeds(plan.model, lost.usage, lost.estimated),
  ];
  return coverOf({ ...run.ledger, covers }, plan);
}

/**
 * Whether a reply was cut by a cap of so many tokens. A provider whose own maximum is smaller cuts
 * a reply too, but earlier.
 */
export function isCutBy(cap: number, { finishReason, usage, usageKnown }: Reply): boolean {
  return finishReason === 'length' && (!usageKnown || usage.outputTokens >= cap * 0.9);
}

/** Ends the run because a budget cut a reply. It was paid for, so the history keeps it. */
export function leaveCut(run: Run, asking: Asking, reply: Reply, bound: Bound): never {
  run.breach(shortBreach(run.ledger, bound, {}));
  if (asking.purpose === 'reply' && asking.own === undefined) {
    const messages = modeOf(run.state.head.spec).answerMessages(reply);
    const { iteration } = run.state;
    run.append({ iteration, origin: 'original', messages }, 'history');
  }
  throw leaving({ kind: 'stopped' });
}

/**
 * A lease that would cut many replies is asked for more, once for each call and not after a
 * refusal. The call then starts with what there is.
 */
async function askForUsual(run: Run, plan: CallPlan): Promise<void> {
  const wants = tightLeases(run, plan);
  if (wants.length > 0 && !run.mustLeave()) await requestMore(run, wants);
}

function tightLeases(run: Run, plan: CallPlan): readonly string[] {
  return shortLeases(run.ledger, usualNeeds(plan))
    .filter(({ refused }) => refused === undefined)
    .map(({ id }) => id);
}

/** Whether a run has a parent, budgets of its tenant, or children now, before or perhaps later. */
function isInTree({ parent, leases = [], stats, head }: RunState): boolean {
  const hasChildren = (stats.counters['agent:children'] ?? 0) > 0;
  return (
    parent !== undefined ||
    leases.length > 0 ||
    hasChildren ||
    head.spec.tools.some(({ agent }) => agent != null)
  );
}

function entryOf({ head }: RunState, model: string): ModelSpec | undefined {
  const { models, toolModels = [] } = head.spec;
  return [...models, ...toolModels].find(({ id }) => id === model);
}

/** The price to cover; where a function chooses the model, that of the dearest. */
function priceOf({ head: { spec } }: RunState, entry: ModelSpec | undefined): Price | undefined {
  if (spec.choosesModel !== true) return entry?.price;
  const [first, ...others] = spec.models.flatMap(({ price }) => price ?? []);
  if (first === undefined) return undefined;
  // What is covered is the dearest tier.
  const tiers = others.flatMap(({ tiers: own = [], ...price }) => [{ ...price, above: 0 }, ...own]);
  return { ...first, tiers: [...(first.tiers ?? []), ...tiers] };
}

/** The estimated prompt of a question. */
function tokensAsked(run: Run, asking: Asking, model: string): number {
  const { state } = run;
  const { own, summary, inline } = asking;
  const strategy = strategyOf(state, model, asking);
  if (inline !== undefined) {
    const { messages, tools = [], schema = null } = inline.request(strategy);
    return tokensOf(messages, byteSize([tools as unknown as Json, schema]));
  }
  if (own === undefined && summary === undefined) return promptTokens(state, isLastTurn(state));
  const order: ModelOrder = {
    ...defined({ own, summary, structuredOutput: strategy }),
    agent: state.head.spec.name,
    runId: state.runId,
    agentPath: state.agentPath,
    model,
    purpose: asking.purpose,
    iteration: state.iteration,
    triesBefore: 0,
    lastTurn: isLastTurn(state),
    time: run.host.now(),
    transcript: state.mark,
  };
  const view = { head: state.head, messages: scratchpadMessages(state) };
  return requestTokens(requestOfOrder(order, view, { attempt: 1 }));
}
