/**
 * Throws random text, mutated programs, deep nesting, huge literals and hostile patterns at the
 * language. Every input must end in a value or a typed problem: no throw, no hang.
 */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  printValue,
  readProgram,
  restore,
  snapshot,
  startMachine,
  type MachineSnapshot,
} from '../../src/lisp.ts';

/** One input may take this long, with the standard fuel. */
const MAX_MS = 4_000;

const TOOLS = [{ name: 'get', description: '', schema: { type: 'object' } }];

/** Runs `source` like a host that answers every request; returns how it ended. */
function run(source: string, forced: boolean): string {
  const read = readProgram(source);
  if (!read.ok) return 'unread';
  const checked = checkProgram(read.program, { tools: TOOLS, memory: [], asking: true });
  if (checked.problems.length > 0) return 'refused';
  let machine = startMachine(read.program, {
    data: { rows: [{ id: 1 }, { id: 2 }] },
    memory: EMPTY_MEMORY,
    limits: { fuel: 300_000 },
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
  const { outcome } = step;
  if (outcome.kind === 'error') {
    const { reason, message } = outcome.error;
    if (message.includes('internal fault')) throw new Error(message);
    return reason;
  }
  printValue(outcome.value, 'preview');
  return outcome.kind;
}

function seeds(): readonly string[] {
  const path = fileURLToPath(new URL('../../test/lisp/clojure/answers.jsonl', import.meta.url));
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

/** An input: random text, pieces of programs, or a program with parts cut, doubled or swapped. */
function input(known: readonly string[]): fc.Arbitrary<string> {
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

/** Runs inputs for `seconds`; the exit code. */
export function fuzzLisp(seconds: number, seed: number): number {
  const known = seeds();
  const ends = new Map<string, number>();
  const start = performance.now();
  let inputs = 0;
  let slowest = { ms: 0, source: '' };
  const failures: string[] = [];
  for (
    let batch = 0;
    performance.now() - start < seconds * 1_000 && failures.length === 0;
    batch++
  ) {
    for (const source of fc.sample(input(known), { numRuns: 200, seed: seed + batch })) {
      if (performance.now() - start > seconds * 1_000) break;
      const began = performance.now();
      try {
        const end = run(source, false);
        const forced = run(source, true);
        if (end !== forced) failures.push(`tiers differ, ${end} and ${forced}: ${source}`);
        ends.set(end, (ends.get(end) ?? 0) + 1);
      } catch (error) {
        failures.push(`threw ${String(error)}: ${source.slice(0, 2_000)}`);
      }
      const ms = performance.now() - began;
      if (ms > slowest.ms) slowest = { ms, source };
      if (ms > MAX_MS) failures.push(`took ${ms.toFixed(0)} ms: ${source.slice(0, 2_000)}`);
      inputs += 1;
    }
  }
  const took = (performance.now() - start) / 1_000;
  console.log(
    `seed ${seed}: ${inputs} programs in ${took.toFixed(1)} s; slowest ${slowest.ms.toFixed(0)} ms`,
  );
  console.log(
    [...ends]
      .toSorted((a, b) => b[1] - a[1])
      .map(([end, count]) => `${end} ${count}`)
      .join(', '),
  );
  for (const failure of failures) console.error(failure);
  return failures.length === 0 ? 0 : 1;
}
