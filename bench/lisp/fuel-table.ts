/**
 * The table of what fuel buys: calls of every builtin, and forms, on large arguments. Each is timed
 * by itself, so a call that does much for little fuel shows.
 *
 * Builtins are called directly, on values that were made before: a program around each call would
 * cost more than most calls. A time is the smaller of wall and processor time, and the best of
 * several tries: the processor's count has the collector's threads in it, the wall has the others'.
 */
import { findBuiltin } from '../../src/lisp/builtins/registry.ts';
import { allBuiltins } from '../../test/lisp/support/builtins.ts';
import { invoke } from '../../src/lisp/code/invoke.ts';
import { Fault, ProgramExit } from '../../src/lisp/base/problem.ts';
import { limitsFrom } from '../../src/lisp/base/limits.ts';
import { NO_SPAN } from '../../src/lisp/base/source.ts';
import type { Context } from '../../src/lisp/value/context.ts';
import { EMPTY_MAP } from '../../src/lisp/value/tree.ts';
import type { Value } from '../../src/lisp/value/value.ts';
import { newContext } from '../../src/lisp/machine/start.ts';
import { advance, checkProgram, EMPTY_MEMORY, readProgram, startMachine } from '../../src/lisp.ts';
import { FORM_CASES } from './fuel-forms.ts';

/** One call of the table. */
export interface FuelCase {
  readonly label: string;
  readonly fn: Value;
  readonly args: readonly Value[];
  /** Fuel of the call: what is linear in the elements may end for want of it. */
  readonly fuel: number;
}

/** What a call cost. */
export interface FuelRow {
  readonly label: string;
  /** Whether it ended in a value: what ends in a fault can happen only once in a program. */
  readonly ended: 'value' | 'fault';
  readonly fuel: number;
  /** Processor seconds per 1,000,000 units of fuel. */
  readonly secondsPerMillion: number;
}

const LIMITS = limitsFrom({
  fuel: 2_000_000,
  loopIterations: 1_000_000,
  collection: 1_000_000,
  textUnits: 4_194_304,
});

/** Fuel of a call of a builtin alone; what needs more ends for want of it, and is told by its forms. */
const BUILTIN_FUEL = 10_000;

/** A fault ends the program: what it cost is compared with at least so much fuel. */
const LEAST_FUEL_OF_A_FAULT = 20_000;

/** The value of a program without effects. */
export function valueOf(source: string): Value {
  const read = readProgram(source);
  if (!read.ok) throw new Error(`${read.problem.message} in ${source}`);
  const { problems } = checkProgram(read.program, { tools: [], memory: [], asking: false });
  if (problems.length > 0) throw new Error(`${problems[0]?.message} in ${source}`);
  const machine = startMachine(read.program, {
    data: {},
    memory: EMPTY_MEMORY,
    limits: LIMITS,
    tools: [],
  });
  const end = advance(machine, { now: 0, budget: {}, results: [] });
  if (end.kind === 'finished' && end.outcome.kind === 'value') return end.outcome.value;
  const why =
    end.kind === 'finished' && end.outcome.kind === 'error'
      ? end.outcome.error.message
      : 'it waits';
  throw new Error(`${why} in ${source}`);
}

/** Sources of large values over `n` elements, by the names that the table shows. */
export function largeValues(n: number): { readonly [name: string]: string } {
  return {
    v: `(vec (range ${n}))`,
    w: `(assoc (vec (range ${n})) ${n - 1} :other)`,
    v1: `(assoc (vec (range ${n})) 0 :other)`,
    m: `(zipmap (range ${n}) (range ${n}))`,
    m1: `(assoc (zipmap (range ${n}) (range ${n})) 0 :other)`,
    s: `(set (range ${n}))`,
    s1: `(conj (disj (set (range ${n})) 0) -1)`,
    t: `(apply str (repeat ${n * 8} "a"))`,
    tb: `(str (apply str (repeat ${n * 4} "a")) "b")`,
    u: `(apply str (repeat ${n} "😀"))`,
    rows: `(mapv (fn [i] {:a i :b (mod i 7)}) (range ${Math.ceil(n / 4)}))`,
    texts: `(mapv str (range ${Math.ceil(n / 2)}))`,
    kw: `(keyword (apply str (repeat ${n * 8} "a")))`,
    deep: '(reduce (fn [a _] [a]) 1 (range 500))',
    big: '(- (bit-shift-left 1 60000) 1)',
    nil: 'nil',
    one: '1',
    neg: '-1',
    k: ':a',
    short: '"b"',
    few: '[1]',
    emptied: '[]',
    none: '{}',
    re: '(re-pattern "a*b")',
    path: '[:a :b]',
    id: 'identity',
    plus: '+',
    yes: '(constantly true)',
    no: '(constantly nil)',
    stop: '(fn [& _] (reduced 1))',
    pair: 'vector',
  };
}

const ALL_NAMES: readonly string[] = Object.keys(largeValues(1));
const TWO_WHOLE: readonly string[] = [
  'v',
  'w',
  'm',
  'm1',
  's',
  't',
  'u',
  'kw',
  'rows',
  'big',
  'nil',
  'one',
  'few',
  'none',
  'id',
  'stop',
];
const TWO: readonly string[] = ['v', 'm', 'm1', 's', 't', 'kw', 'nil', 'one', 'few', 'id', 'yes'];
const THREE: readonly string[] = ['v', 'm', 't', 'nil', 'one', 'id'];
const FOUR: readonly string[] = ['v', 't', 'one', 'nil'];

/** These end the program, or wait. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'return',
  'fail',
  'task-reset',
  'step-done',
  'println',
  'prn',
]);

/** The large values that a body names. */
function namesIn(body: string, names: readonly string[]): readonly string[] {
  const isNamed = (name: string): boolean =>
    name !== 'nil' && new RegExp(`(?<![\\w:-])${name}(?![\\w-])`).test(body);
  return names.filter(isNamed);
}

/** The program of a body over `n` elements. */
export function sourceOf(body: string, n: number): string {
  const sources = largeValues(n);
  const bindings = namesIn(body, Object.keys(sources)).map((name) => `${name} ${sources[name]}`);
  return `(let [${bindings.join(' ')}] ${body})`;
}

/** How much of the table is wanted: every pair of arguments, fewer, or the forms alone. */
export type Breadth = 'whole' | 'small' | 'forms';

/** The calls of the table over `n` elements. */
export function fuelCases(n: number, breadth: Breadth): readonly FuelCase[] {
  const sources = largeValues(n);
  const values = new Map(Object.entries(sources).map(([name, source]) => [name, valueOf(source)]));
  const pick = (names: readonly string[]): readonly Value[] =>
    names.map((name) => values.get(name) ?? null);
  const cases: FuelCase[] = [];
  const wide = breadth === 'whole';
  for (const builtin of breadth === 'forms' ? [] : allBuiltins()) {
    const { name, min, max, work } = builtin;
    if (work.kind === 'effect' || LEFT_OUT.has(name)) continue;
    const add = (names: readonly string[]): void => {
      if (names.length < min || names.length > max) return;
      cases.push({
        label: `(${[name, ...names].join(' ')})`,
        fn: builtin,
        args: pick(names),
        fuel: Math.min(n, BUILTIN_FUEL),
      });
    };
    for (const a of ALL_NAMES) add([a]);
    const two = wide ? TWO_WHOLE : TWO;
    for (const a of two) for (const b of two) add([a, b]);
    const three = wide ? THREE : ['v', 't', 'one', 'id'];
    for (const a of three) for (const b of three) for (const d of three) add([a, b, d]);
    if (!wide) continue;
    for (const a of FOUR)
      for (const b of FOUR) for (const d of FOUR) for (const e of FOUR) add([a, b, d, e]);
  }
  for (const body of FORM_CASES) {
    const names = namesIn(body, Object.keys(sources));
    const fn = valueOf(`(fn [${names.join(' ')}] ${body})`);
    cases.push({ label: body, fn, args: pick(names), fuel: 300_000 });
  }
  const apply = findBuiltin('apply') ?? null;
  for (const name of [
    'max',
    'hash-map',
    'str',
    'comp',
    'juxt',
    'concat',
    'vector',
    'distinct?',
    '=',
    '<',
    'merge',
    'partial',
  ]) {
    const fn = findBuiltin(name) ?? null;
    cases.push({
      label: `(apply ${name} v)`,
      fn: apply,
      args: [fn, values.get('v') ?? null],
      fuel: 300_000,
    });
  }
  return cases;
}

/** A context with fuel for one call. */
export function contextWith(fuel: number): Context {
  return newContext({ ...LIMITS, fuel }, EMPTY_MAP, []);
}

/** Milliseconds of a call: the smaller of wall and processor time. */
function timed(work: () => void): number {
  const { user, system } = process.cpuUsage();
  const start = performance.now();
  work();
  const wall = performance.now() - start;
  if (wall < 2) return wall;
  const after = process.cpuUsage();
  return Math.min(wall, (after.user + after.system - user - system) / 1_000);
}

/** Makes one call; its value, or undefined when it ended in a fault. */
export function call({ fn, args }: FuelCase, c: Context): Value | undefined {
  try {
    return invoke(c, fn, args.slice(), NO_SPAN);
  } catch (thrown) {
    if (thrown instanceof Fault || thrown instanceof ProgramExit) return undefined;
    throw thrown;
  }
}

/** One try of a case: its call is made `times` times. */
function once(each: FuelCase, times = 1): FuelRow {
  const { fuel } = each;
  const contexts = Array.from({ length: times }, () => contextWith(fuel));
  let value: Value | undefined;
  const ms = timed(() => {
    for (const c of contexts) value = call(each, c);
  });
  const used = fuel - Math.max(0, contexts[0]?.fuel ?? 0) + each.args.length;
  const ended = value === undefined ? 'fault' : 'value';
  const paid = ended === 'value' ? used * times : Math.max(used, LEAST_FUEL_OF_A_FAULT);
  return { label: each.label, ended, fuel: used, secondsPerMillion: (ms * 1_000) / paid };
}

/** Units of fuel that are timed at once: a clock says little about less. */
const TIMED_FUEL = 1_000;

/**
 * What a case costs; one that looks dear is tried again, since the first call of anything is slow. A
 * small call is then made as often as a program would have to make it.
 */
export function measure(each: FuelCase, dear: number): FuelRow {
  let best = once(each);
  const isSmall = best.ended === 'value' && best.fuel < TIMED_FUEL;
  const times = isSmall ? Math.ceil(TIMED_FUEL / best.fuel) : 1;
  for (let tries = 0; tries < 10 && best.secondsPerMillion > dear; tries++) {
    const again = once(each, times);
    if (again.secondsPerMillion < best.secondsPerMillion) best = again;
  }
  return best;
}

/** What the values of calls hold. */
export interface HeldRow {
  readonly label: string;
  /** Megabytes of heap after a full collection, per 1,000,000 units of fuel. */
  readonly mbPerMillion: number;
}

/** Makes a call again and again within `fuel`, and weighs the values while they are alive. */
export function heldBy(each: FuelCase, collect: () => void, fuel: number): HeldRow {
  const values: unknown[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  const c = contextWith(fuel);
  for (let paid = 0; paid < fuel && values.length < 3_000;) {
    const value = call(each, c);
    if (value === undefined) break;
    values.push(value);
    paid = fuel - c.fuel + values.length * each.args.length;
  }
  const paid = fuel - c.fuel + values.length * each.args.length;
  collect();
  const bytes = process.memoryUsage().heapUsed - before - values.length * 16;
  const mbPerMillion = values.length === 0 ? 0 : Math.max(0, bytes) / Math.max(paid, 3_000);
  return { label: each.label, mbPerMillion };
}

/** Seconds that a fixed loop takes here: what the figures are to be read beside. */
export function calibration(): number {
  let best = Infinity;
  for (let tries = 0; tries < 5; tries++) {
    const ms = timed(() => {
      const items: number[] = [];
      let sum = 0;
      for (let index = 0; index < 5_000_000; index++) {
        items[index & 0xffff] = index;
        sum = (sum + (items[(index * 7) & 0xffff] ?? 0)) | 0;
      }
      if (sum === 0.5) throw new Error('never');
    });
    best = Math.min(best, ms);
  }
  return best / 1_000;
}
