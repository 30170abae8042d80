/**
 * Compaction in a run: when it is due, and what its strategies planned is done and recorded.
 * Asynchronous, like `loop.ts`, of which it is a part: a summary asks a model.
 */
import { contextTokens } from './context-tokens.ts';
import type { StrategySpec } from '../contract/compaction.ts';
import type { CompactionPlan } from '../compaction/compaction-plan.ts';
import { planOf } from '../compaction/plan.ts';
import { fires, isAboutContext } from '../compaction/trigger.ts';
import type { Entry } from '../contract/entry.ts';
import { askModels, type Tries } from './ask-model.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import type { Host } from '../run/host.ts';
import { isStopped, type Run } from '../run/run.ts';
import { nothingOpen, type OpenCount } from '../run/open-count.ts';
import type { RunState } from '../run/run-state.ts';
import { replyText } from '../contract/turn.ts';

/**
 * What came of a pass between two iterations. `stopped`: a cancel or a breach waits, and whoever
 * looks finds it · `interrupted`: an input wants to be read first.
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

/** Strategies in order, until one changes something and no trigger about the context fires. */
export function compactDue(run: Run, host: Host): Promise<Pass> {
  return passOf(run, host, () => !isContextTriggered(run.state));
}

/** Strategies in order, until the state fits into a hand-over. */
export function compactToFit(run: Run, host: Host): Promise<Pass> {
  return passOf(run, host, () => host.capacity.fits(run.state));
}

/**
 * Each strategy once, in order: a provider refused the request as too long, so no estimate is to be
 * trusted. True when something changed. Leaves the iteration by a throw, as work in it does.
 */
export function compactByForce(
  run: Run,
  host: Host,
  open: OpenCount,
  tries: Tries,
): Promise<boolean> {
  return applyStrategies(run, host, { open, tries, isEnough: () => false });
}

async function passOf(run: Run, host: Host, isEnough: () => boolean): Promise<Pass> {
  const how = { open: nothingOpen(), tries: { count: 0, isForced: false }, isEnough };
  try {
    return { kind: (await applyStrategies(run, host, how)) ? 'changed' : 'unchanged' };
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

interface How {
  readonly open: OpenCount;
  readonly tries: Tries;
  /** Asked after each change. */
  readonly isEnough: () => boolean;
}

async function applyStrategies(run: Run, host: Host, how: How): Promise<boolean> {
  const strategies = run.state.head.spec.compaction?.strategies ?? [];
  let hasChanged = false;
  for (const [place, strategy] of strategies.entries()) {
    const hadEffect = await applyStrategy(run, host, how, place, strategy);
    hasChanged ||= hadEffect;
    if (isStopped(run, host) || (hadEffect && how.isEnough())) break;
  }
  return hasChanged;
}

/** Whether the strategy changed anything; when not, it left no trace. */
async function applyStrategy(
  run: Run,
  host: Host,
  how: How,
  place: number,
  strategy: StrategySpec,
): Promise<boolean> {
  const { state } = run;
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
    plan.kind === 'replace' ? plan.entries : await askForSummary(run, host, how, place, plan);
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
  run: Run,
  host: Host,
  { open, tries }: How,
  place: number,
  plan: Extract<CompactionPlan, { readonly kind: 'ask' }>,
): Promise<readonly Entry[]> {
  const { earlier, activity, conclude } = plan;
  const own = run.state.head.spec.models.map(({ id }) => id);
  const end = await askModels(run, host, open, {
    purpose: 'compaction',
    models: plan.models.length === 0 ? own : plan.models,
    messages: [...earlier, ...activity].reduce((sum, [from, until]) => sum + until - from, 0),
    summary: { strategy: place, earlier, activity },
    tries,
  });
  if (end.kind === 'failed') throw leaving({ kind: 'compaction_failed', cause: end.message });
  const text = replyText(end.reply).trim();
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
