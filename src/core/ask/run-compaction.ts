/**
 * Compaction in a run: decides when it is due, carries out what strategies plan, and records it.
 */
import { byteSize, type Json } from '../base/json.ts';
import { contextTokens } from './context-tokens.ts';
import type { CompactionPlan } from '../compaction/compaction-plan.ts';
import { planOf } from '../compaction/plan.ts';
import { LARGE_RESULTS, newestOf, TARGET_SHARE } from '../compaction/shorten.ts';
import { fires, isAboutContext } from '../compaction/trigger.ts';
import type { StrategySpec } from '../contract/compaction.ts';
import type { Entry } from '../contract/entry.ts';
import { askModels, isUnanswered } from './ask-model.ts';
import { askedModels, type Tries } from './asking.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import { CLOSED_GATE } from '../run/handover-gate.ts';
import { createIteration, type Iteration } from '../run/iteration.ts';
import type { Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';
import { replyText } from '../contract/turn.ts';

/**
 * The result of a pass between two iterations. `stopped`: the caller finds a cancel or a breach ·
 * `interrupted`: an input must be read first.
 */
export type Pass =
  | { readonly kind: 'unchanged' | 'changed' | 'stopped' | 'interrupted' }
  | { readonly kind: 'failed'; readonly cause: string };

/** Whether a trigger fires before the next iteration; never before the first. */
export function isCompactionDue({ state }: Run): boolean {
  const { compaction } = state.head.spec;
  if (compaction === undefined || state.iteration === 0) return false;
  return fires(compaction.triggers, triggerInput(state));
}

/** Runs strategies in order, until one changes something and no trigger about the context fires. */
export function compactDue(run: Run): Promise<Pass> {
  return passOf(run, () => !isContextTriggered(run.state));
}

/**
 * Runs strategies in order, until the state fits into a hand-over. A run whose agent does not say how
 * masks large results, then forgets its oldest entries: it asks no model.
 */
export function compactToFit(run: Run): Promise<Pass> {
  if (run.state.head.spec.compaction === undefined) return shorten(run);
  return passOf(run, () => run.host.link.fits(run.state));
}

async function shorten(run: Run): Promise<Pass> {
  // Without a conversation, as in a pipeline, nothing can go.
  if (run.state.scratchpad.length === 0) return { kind: 'unchanged' };
  const bytes = byteSize(run.state as unknown as Json);
  const target = Math.floor(run.host.link.sizes.handover * TARGET_SHARE);
  const message = `The conversation made the state of the run ${bytes} bytes large, which no link can hand over. Old results and entries were left out. Set \`contextWindow\` of the model, \`compaction\` or a blob store.`;
  run.record({ type: 'agent:warning', code: 'state_large', message });
  const iteration = createIteration(run, CLOSED_GATE);
  const tries = { count: 0, isForced: false, lostReads: 0 };
  const isMasked = await applyStrategy(iteration, tries, 0, LARGE_RESULTS);
  const over = byteSize(run.state as unknown as Json) - target;
  const keep = over > 0 ? newestOf(run.state.scratchpad, over) : null;
  const isCut =
    keep !== null && (await applyStrategy(iteration, tries, 0, { kind: 'sliding_window', keep }));
  return { kind: isMasked || isCut ? 'changed' : 'unchanged' };
}

/**
 * Runs each strategy once, in order: a provider refused the request as too long, so no estimate can
 * be trusted. True when something changed. Leaves the iteration by a throw, as work in it does.
 */
export function compactByForce(iteration: Iteration, tries: Tries): Promise<boolean> {
  return applyStrategies(iteration, tries, () => false);
}

async function passOf(run: Run, isEnough: () => boolean): Promise<Pass> {
  const iteration = createIteration(run, CLOSED_GATE);
  try {
    const tries = { count: 0, lostReads: 0, isForced: false };
    const hasChanged = await applyStrategies(iteration, tries, isEnough);
    return { kind: hasChanged ? 'changed' : 'unchanged' };
  } catch (error) {
    const leave = leaveOf(error);
    switch (leave?.kind) {
      case 'stopped':
      case 'interrupted':
        return { kind: leave.kind };
      case 'compaction_failed':
        return { kind: 'failed', cause: leave.cause };
      case 'failed':
      case 'handover':
      case undefined:
        throw error;
    }
  }
}

/** Applies the strategies in order until a change is enough; returns whether anything changed. */
async function applyStrategies(
  iteration: Iteration,
  tries: Tries,
  isEnough: () => boolean,
): Promise<boolean> {
  const { run } = iteration;
  const strategies = run.state.head.spec.compaction?.strategies ?? [];
  let hasChanged = false;
  for (const [index, strategy] of strategies.entries()) {
    const hadEffect = await applyStrategy(iteration, tries, index, strategy);
    hasChanged ||= hadEffect;
    if (run.isStopped() || (hadEffect && isEnough())) break;
  }
  return hasChanged;
}

/** Whether the strategy at `index` changed anything; if not, it left no trace. */
async function applyStrategy(
  iteration: Iteration,
  tries: Tries,
  index: number,
  strategy: StrategySpec,
): Promise<boolean> {
  const { run } = iteration;
  const { state, host } = run;
  const startedAt = host.now();
  const plan = planOf(strategy, {
    entries: state.scratchpad,
    nextEpoch: state.mark.epoch + 1,
    iteration: state.iteration,
    tools: state.head.spec.tools.map(({ name }) => name),
  });
  if (plan.kind === 'nothing') return false;
  const tokensBefore = contextTokens(state);
  const entries =
    plan.kind === 'replace' ? plan.entries : await askForSummary(iteration, tries, index, plan);
  // A loop that does not await its work may have appended meanwhile.
  const added = run.state.scratchpad.slice(state.scratchpad.length);
  run.replaceScratchpad([...entries, ...added]);
  run.record({
    type: 'agent:compaction',
    strategy: strategy.kind,
    lengthBefore: state.scratchpad.length + added.length,
    lengthAfter: run.state.scratchpad.length,
    tokensBefore,
    tokensAfter: contextTokens(run.state),
    epoch: run.state.mark.epoch,
    durationMs: host.now() - startedAt,
  });
  return true;
}

async function askForSummary(
  iteration: Iteration,
  tries: Tries,
  strategy: number,
  plan: Extract<CompactionPlan, { readonly kind: 'ask' }>,
): Promise<readonly Entry[]> {
  const { earlier, activity, conclude } = plan;
  const { state } = iteration.run;
  const own = askedModels(
    state,
    state.head.spec.models.map(({ id }) => id),
  );
  const end = await askModels(iteration, {
    purpose: 'compaction',
    models: plan.models.length === 0 ? own : plan.models,
    messages: [...earlier, ...activity].reduce((sum, [from, until]) => sum + until - from, 0),
    summary: { strategy, earlier, activity },
    tries,
  });
  if (isUnanswered(end)) throw leaving({ kind: 'compaction_failed', cause: end.message });
  const text = replyText(end).trim();
  if (text !== '') return conclude(text);
  throw leaving({ kind: 'compaction_failed', cause: 'the summary was empty' });
}

function isContextTriggered(state: RunState): boolean {
  const triggers = state.head.spec.compaction?.triggers ?? [];
  return fires(triggers.filter(isAboutContext), triggerInput(state));
}

function triggerInput(state: RunState): Parameters<typeof fires>[1] {
  return {
    stats: state.stats,
    snapshots: state.compaction.snapshots,
    contextWindow: state.head.spec.models[0]?.contextWindow,
    contextTokens: () => contextTokens(state),
  };
}
