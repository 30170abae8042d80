/** Triggers: when each kind fires and which counters it watches. */
import { covers } from '../limits/breach.ts';
import { valueOf, type Numbers, type Stats } from '../contract/stats.ts';
import type { TriggerSpec } from '../contract/compaction.ts';

/** The input of triggers. */
export interface TriggerInput {
  readonly stats: Stats;
  readonly snapshots: Numbers;
  /** The context window of the agent's first model, in tokens; undefined if its entry has none. */
  readonly contextWindow: number | undefined;
  /** The estimate of the next request in tokens; computed only if a trigger needs it. */
  readonly contextTokens: () => number;
}

/** The rules of one kind of trigger. */
interface TriggerRules<Spec> {
  fires(spec: Spec, input: TriggerInput): boolean;
  /** The counters whose values are recorded at a compaction. */
  watches(spec: Spec, stats: Stats): readonly string[];
  /**
   * Whether it is about the size of the request. Then it needs a context window, and while it
   * fires, the pass tries further strategies.
   */
  readonly isAboutContext: boolean;
}

type RulesByKind = {
  readonly [Kind in TriggerSpec['kind']]: TriggerRules<
    Extract<TriggerSpec, { readonly kind: Kind }>
  >;
};

const watchesNothing = (): readonly string[] => [];

const RULES: RulesByKind = {
  counter: {
    fires: ({ key, step }, input) => risenBy(key, input) >= step,
    watches: ({ key }) => [key],
    isAboutContext: false,
  },
  counter_prefix: {
    fires: ({ prefix, step }, input) =>
      keysUnder(prefix, input.stats.counters).some((key) => risenBy(key, input) >= step),
    watches: ({ prefix }, { counters }) => keysUnder(prefix, counters),
    isAboutContext: false,
  },
  gauge: {
    // A gauge that was never set must not fire at 0.
    fires: ({ key, at }, { stats }) => (stats.gauges[key] ?? -Infinity) >= at,
    watches: watchesNothing,
    isAboutContext: false,
  },
  gauge_prefix: {
    fires: ({ prefix, at }, { stats: { gauges } }) =>
      keysUnder(prefix, gauges).some((key) => (gauges[key] ?? 0) >= at),
    watches: watchesNothing,
    isAboutContext: false,
  },
  context: {
    fires: ({ share }, { contextWindow, contextTokens }) =>
      contextWindow !== undefined && contextTokens() >= share * contextWindow,
    watches: watchesNothing,
    isAboutContext: true,
  },
};

/** Whether one of `triggers` fires. */
export function fires(triggers: readonly TriggerSpec[], input: TriggerInput): boolean {
  return triggers.some((trigger) => rulesOf(trigger).fires(trigger, input));
}

/** Whether a trigger is about the size of the request, and so needs the context window. */
export function isAboutContext(trigger: TriggerSpec): boolean {
  return rulesOf(trigger).isAboutContext;
}

/** The snapshots of a compaction: the current values of all counters that `triggers` watch. */
export function snapshotsOf(triggers: readonly TriggerSpec[], stats: Stats): Numbers {
  const keys = triggers.flatMap((trigger) => rulesOf(trigger).watches(trigger, stats));
  return Object.fromEntries(keys.map((key) => [key, valueOf(stats, key)]));
}

function rulesOf(trigger: TriggerSpec): TriggerRules<TriggerSpec> {
  // The table pairs each kind with its rules, which an index by a union cannot express.
  return RULES[trigger.kind] as TriggerRules<TriggerSpec>;
}

function risenBy(key: string, { stats, snapshots }: TriggerInput): number {
  return (stats.counters[key] ?? 0) - (snapshots[key] ?? 0);
}

/** As with limits, a prefix covers `$self:` twins only if it begins with `$self:`. */
function keysUnder(prefix: string, numbers: Numbers): readonly string[] {
  const limit = { kind: 'prefix', key: prefix, max: 0 } as const;
  return Object.keys(numbers).filter((key) => covers(limit, key));
}
