/**
 * Hostile programs and how they end: random text, pieces of programs, programs with parts cut,
 * doubled or swapped, deep nesting. For the fuzzer and for law M4.
 */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  fuelUsed,
  printValue,
  readProgram,
  restore,
  snapshot,
  startMachine,
  type MachineSnapshot,
} from '../../../src/lisp.ts';

const TOOLS = [{ name: 'get', description: '', schema: { type: 'object' } }];

/** Units of fuel that a hostile program may use. */
const FUEL = 300_000;

/**
 * Runs `source` like a host that answers every request, from a snapshot each time; returns how it
 * ended. Throws when the language broke its word: an internal fault, or fuel beyond the limit.
 */
export function endOf(source: string, forced: boolean): string {
  const read = readProgram(source);
  if (!read.ok) return 'unread';
  const checked = checkProgram(read.program, { tools: TOOLS, memory: [], asking: true });
  if (checked.problems.length > 0) return 'refused';
  let machine = startMachine(read.program, {
    data: { rows: [{ id: 1 }, { id: 2 }] },
    memory: EMPTY_MEMORY,
    limits: { fuel: FUEL },
    tools: TOOLS,
    forced,
  });
  let step = advance(machine, { now: 0, budget: {}, results: [] });
  for (let round = 0; round < 200 && step.kind === 'blocked'; round++) {
    const saved = JSON.parse(JSON.stringify(snapshot(step.machine))) as MachineSnapshot;
    machine = restore(saved);
    const results = step.requests.map(({ id }) => ({ id, ok: true as const, value: { id: 1 } }));
    step = advance(machine, { now: 0, budget: {}, results });
  }
  if (step.kind === 'blocked') return 'blocked';
  const used = fuelUsed(step.machine);
  if (used > FUEL) throw new Error(`It used ${used} units of fuel.`);
  const { outcome } = step;
  if (outcome.kind === 'error') {
    const { reason, message } = outcome.error;
    if (message.includes('internal fault')) throw new Error(message);
    return reason;
  }
  printValue(outcome.value, 'preview');
  return outcome.kind;
}

/** Programs to begin with. */
function seeds(): readonly string[] {
  const path = new URL('../clojure/answers.jsonl', import.meta.url);
  const lines = readFileSync(path, 'utf8').split('\n').slice(1, 2_000);
  const programs = lines
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as string[])[0] ?? '');
  return [
    ...programs,
    '(map (fn [x] (tool/get {:id x})) [1 2 3])',
    '(pmap (fn [x] (attempt (tool/get {:id x}))) (range 10))',
    '(re-find #"(a+)+$" "aaaaaaaaaaaaaaaaaaaaaaaa!")',
    '((fn f [n] (if (= n 0) 0 (inc (f (dec n))))) 900)',
  ];
}

const PIECES =
  '( ) [ ] { } #{ #( " \' ` ~ @ ^ #_ ; \\ % & nil true -1 1e400 ##NaN 99999999999999999999 "\\ud83d" :a a/b fn let loop recur map reduce str tool/get data/rows pmap attempt'.split(
    ' ',
  );

/** Text that may be a program: most is not, some nearly is, some is and does odd things. */
export function hostileProgram(): fc.Arbitrary<string> {
  const known = seeds();
  const mutated = fc
    .tuple(
      fc.constantFrom(...known),
      fc.array(fc.tuple(fc.nat(400), fc.nat(60), fc.constantFrom(...PIECES)), { maxLength: 4 }),
    )
    .map(([program, changes]) =>
      changes.reduce(
        (text, [at, length, piece]) =>
          `${text.slice(0, at)} ${piece} ${text.slice(at + (length % 7))}`,
        program,
      ),
    );
  const crossed = fc
    .tuple(fc.constantFrom(...known), fc.constantFrom(...known))
    .map(([a, b]) => `(let [x ${a.startsWith('(def') ? 1 : a}] ${b})`);
  const deep = fc
    .tuple(
      fc.constantFrom('(', '[', '{', '#(', "'", '#_', '(-> ', '(fn [] '),
      fc.integer({ min: 1, max: 100_000 }),
    )
    .map(([piece, count]) => piece.repeat(Math.min(count, Math.floor(250_000 / piece.length))));
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.constantFrom(...PIECES), { maxLength: 30 })
        .map((parts) => parts.join(' ')),
    },
    { weight: 8, arbitrary: mutated },
    { weight: 4, arbitrary: crossed },
    { weight: 1, arbitrary: deep },
  );
}
