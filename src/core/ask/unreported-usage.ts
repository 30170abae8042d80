/** Replies whose provider reports no usage, where a limit on tokens or cost needs it. */
import { defined } from '../base/defined.ts';
import type { EventBody } from '../contract/events.ts';
import type { ModelOutcome } from '../contract/host-outcome.ts';
import type { BreachOrigin, Limit, UnknownUsage } from '../contract/limit.ts';
import type { ModelRequest, Price, Reply, ReplyItem } from '../contract/model.ts';
import { byteSize } from '../base/json.ts';
import { limitedValue } from '../stats/estimates.ts';
import { measuresUsage } from '../limits/usage-limits.ts';
import { addEstimates, estimatedUsage } from '../model/estimated-usage.ts';
import { leaving } from '../run/ending.ts';
import { statOf, type Run } from '../run/run.ts';
import { usageWarning } from '../run/turn-record.ts';
import { requestTokens, textTokens } from './context-tokens.ts';

/** `reply` with an estimate of what it used if the provider reported nothing: bytes over 4. */
export function withUnreported(
  reply: Reply,
  request: Pick<ModelRequest, 'messages' | 'tools'>,
  price: Price | undefined,
): Reply {
  if (reply.usageKnown) return reply;
  const outputTokens = Math.ceil(reply.parts.reduce((sum, part) => sum + writtenTokens(part), 0));
  const estimate = estimatedUsage(requestTokens(request), outputTokens, price);
  return { ...reply, unreported: { ...estimate, outputTokens } };
}

/** What a model wrote for `part`; sources and files are not written token by token. */
function writtenTokens(part: ReplyItem): number {
  if ('text' in part) return textTokens(part.text);
  return 'args' in part ? textTokens(part.tool) + byteSize(part.args) / 4 : 0;
}

/** What the limits say about a reply without usage, and the limit that says it. */
interface Policy {
  readonly does: UnknownUsage;
  readonly limit: Limit;
  readonly origin: BreachOrigin;
}

/**
 * How `outcome` is counted; null if its usage is known, or no limit needs it. The strictest of all
 * limits counts, those of ancestors too: `end`, then `estimate`, then `warn`.
 */
export function unreportedIn(run: Run, outcome: ModelOutcome): Policy | null {
  // A reply that a middleware wrote without a model has used nothing.
  if (outcome.kind !== 'reply' || outcome.reply.unreported === undefined) return null;
  const { head, limits, leases = [] } = run.state;
  const usual = head.spec.onUnknownUsage;
  const watched = [
    ...limits.map((limit) => ({ limit, origin: 'self' as const })),
    ...leases.map(({ limit, origin }) => ({ limit, origin })),
  ].filter(({ limit }) => measuresUsage(limit));
  const policies = watched.flatMap(({ limit, origin }) => {
    const does = limit.onUnknownUsage ?? usual;
    return does === undefined ? [] : [{ does, limit, origin }];
  });
  for (const strict of ['end', 'estimate', 'warn']) {
    const found = policies.find(({ does }) => does === strict);
    if (found !== undefined) return found;
  }
  return null;
}

/** The fields of `agent:model_call:after` that mark such a reply. */
export function unreportedFields(
  policy: Policy | null,
  outcome: ModelOutcome,
): Pick<Extract<EventBody, { type: 'agent:model_call:after' }>, 'estimated' | 'unreported'> {
  const guess =
    policy?.does === 'estimate' && outcome.kind === 'reply' ? outcome.reply.unreported : undefined;
  return defined({
    estimated: addEstimates(outcome.estimated, guess),
    unreported: policy?.does,
  });
}

/**
 * Warns of usage that cannot be, of what was left out of the request or the reply, and the first time
 * of a reply without usage; or ends the run by a limit of
 * an ancestor: one of its own has ended it by then. Called after the call is recorded.
 */
export function afterUnreported(
  run: Run,
  policy: Policy | null,
  model: string,
  outcome: ModelOutcome,
): void {
  const problem = outcome.kind === 'reply' ? outcome.reply.usageProblem : undefined;
  const warnings = outcome.kind === 'reply' ? (outcome.reply.warnings ?? []) : [];
  for (const warning of usageWarning(model, problem)) run.record(warning);
  for (const warning of warnings) run.record({ type: 'agent:warning', ...warning });
  if (policy === null || policy.does === 'estimate') return;
  const { limit, origin } = policy;
  if (policy.does === 'end') {
    const value = limitedValue(run.state.stats, limit.key);
    run.breach({ limit, key: limit.key, value, origin, unreportedBy: model });
    throw leaving({ kind: 'stopped' });
  }
  if (statOf(run, '$self:agent:unreported_calls') !== 1) return;
  const message = `Model \`${model}\` reported no usage, so its calls do not count towards the limit on \`${limit.key}\`. Make its provider report usage, or set \`onUnknownUsage: 'estimate'\`.`;
  run.record({ type: 'agent:warning', code: 'unknown_usage', message });
}
