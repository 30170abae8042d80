/**
 * The limits of a program. They count and never measure time, so a program ends at the same step on
 * every computer.
 */

/** The limits of one program; see {@link LIMIT_RANGES} for defaults and highest values. */
export interface Limits {
  /** Units of work; nodes, elements and effects have fixed costs. */
  readonly fuel: number;
  /** Jumps by `recur` in one run of a `loop` or function. */
  readonly loopIterations: number;
  /** Waiting calls; also the nesting of a value that a builtin walks. */
  readonly depth: number;
  /** Elements of one collection. */
  readonly collection: number;
  /** UTF-16 units of one string. */
  readonly textUnits: number;
  readonly integerBits: number;
  readonly notes: number;
  readonly noteChars: number;
  /** Tool calls of one program. */
  readonly toolCalls: number;
  /** Branches of one `pmap` or `pcalls` that run at once. */
  readonly parallel: number;
  /** Effects of one program that are open at once. */
  readonly inFlight: number;
  /** UTF-8 bytes of the source. */
  readonly sourceBytes: number;
}

/** Default and highest value of each limit. The lowest is 1. */
export const LIMIT_RANGES: {
  readonly [K in keyof Limits]: { readonly standard: number; readonly highest: number };
} = {
  fuel: { standard: 1_000_000, highest: 2_000_000 },
  loopIterations: { standard: 10_000, highest: 1_000_000 },
  depth: { standard: 1_000, highest: 5_000 },
  collection: { standard: 100_000, highest: 1_000_000 },
  textUnits: { standard: 1_048_576, highest: 4_194_304 },
  integerBits: { standard: 65_536, highest: 1_048_576 },
  notes: { standard: 200, highest: 2_000 },
  noteChars: { standard: 2_000, highest: 20_000 },
  toolCalls: { standard: 1_000, highest: 10_000 },
  parallel: { standard: 8, highest: 64 },
  inFlight: { standard: 32, highest: 256 },
  sourceBytes: { standard: 262_144, highest: 1_048_576 },
};

/** The default limits. */
export const DEFAULT_LIMITS: Limits = limitsFrom({});

/** Complete limits: `given`, clamped to its range, or the default. */
export function limitsFrom(given: Partial<Limits>): Limits {
  const pick = (name: keyof Limits): number => {
    const { standard, highest } = LIMIT_RANGES[name];
    const wanted = given[name] ?? standard;
    return Math.max(1, Math.min(highest, Math.trunc(wanted)));
  };
  return {
    fuel: pick('fuel'),
    loopIterations: pick('loopIterations'),
    depth: pick('depth'),
    collection: pick('collection'),
    textUnits: pick('textUnits'),
    integerBits: pick('integerBits'),
    notes: pick('notes'),
    noteChars: pick('noteChars'),
    toolCalls: pick('toolCalls'),
    parallel: pick('parallel'),
    inFlight: pick('inFlight'),
    sourceBytes: pick('sourceBytes'),
  };
}
