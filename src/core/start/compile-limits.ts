/**
 * Compiles the limits of a run: the defaults of its mode, then those of the definition, then those
 * of the start, which replace others on the same key. Reports all problems together.
 */
import type { UsageProblem } from '../base/usage-error.ts';
import type { LimitsInput } from '../contract/input.ts';
import type { Limit } from '../contract/limit.ts';
import type { Mode } from '../contract/model.ts';
import { DEFAULT_COST_LIMIT, DEFAULT_LIMITS } from '../limits/default-limits.ts';
import { applyLimits, inputProblems, type CompiledLimits } from '../limits/limits-input.ts';
import { modeOf } from '../modes/modes.ts';
import { shown } from '../text/shown.ts';

/** The limits that users wrote, the definition's first. */
export interface LimitSources {
  readonly definition?: LimitsInput | undefined;
  /** The definition's maximum of turns; if it also has a limit `iterations`, the smaller counts. */
  readonly maxTurns?: number | undefined;
  readonly start?: LimitsInput | undefined;
  /** Decides which defaults apply. Default: all of them. */
  readonly mode?: Mode | undefined;
  /** Whether the default limit on cost applies. Default: it does not. */
  readonly hasCostLimit?: boolean | undefined;
}

/** The limits of a run, in the order in which they are checked. */
export function compileLimits(sources: LimitSources): CompiledLimits {
  const problems = [
    ...inputProblems(sources.definition),
    ...turnProblems(sources.maxTurns),
    ...inputProblems(sources.start),
  ];
  if (problems.length > 0) return { kind: 'problems', problems };
  const defined = applyLimits(defaultsOf(sources), sources.definition);
  const bounded = boundTurns(defined, sources);
  return { kind: 'limits', limits: defaultLast(applyLimits(bounded, sources.start)) };
}

function defaultsOf({ mode, hasCostLimit = false }: LimitSources): readonly Limit[] {
  const limits = mode === undefined ? DEFAULT_LIMITS : modeOf({ mode }).defaultLimits;
  return hasCostLimit ? [...limits, DEFAULT_COST_LIMIT] : limits;
}

/** Where a default is crossed with a limit that somebody has set, the run ends by the latter. */
function defaultLast(limits: readonly Limit[]): readonly Limit[] {
  const isDefault = ({ byDefault }: Limit): boolean => byDefault === true;
  return [...limits.filter((limit) => !isDefault(limit)), ...limits.filter(isDefault)];
}

function turnProblems(maxTurns: number | undefined): readonly UsageProblem[] {
  if (maxTurns === undefined || (Number.isSafeInteger(maxTurns) && maxTurns >= 1)) return [];
  const message = `Expected \`maxTurns\` from 1 up, got ${shown(maxTurns)}. Change it.`;
  return [{ code: 'number', message }];
}

function boundTurns(limits: readonly Limit[], sources: LimitSources): readonly Limit[] {
  const { definition, maxTurns } = sources;
  if (maxTurns === undefined) return limits;
  const written = typeof definition === 'object' ? definition.iterations : undefined;
  const max = typeof written === 'number' ? Math.min(written, maxTurns) : maxTurns;
  return applyLimits(limits, { iterations: max });
}
