/** Programs of up to the size limit with thousands of parts, or deep ones, in both tiers. */
import { describe, expect, test } from 'vitest';
import { checkProgram, readProgram } from '../../src/lisp.ts';
import { evaluate } from './support/evaluate.ts';

function many(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(' ');
}

function nested(count: number, open: string, inner: string, close: string): string {
  return open.repeat(count) + inner + close.repeat(count);
}

/** A program, and its value or the reason of its problem. */
const PROGRAMS: readonly (readonly [name: string, source: string, end: string])[] = [
  ['regex literals', many(12_000, (it) => `#"[a-z]{500}${it}"`), 'invalid_form'],
  ['regex literals of Unicode', many(12_000, (it) => `#"\\p{L}\\p{P}${it}"`), 'invalid_form'],
  ['long regex literals', many(240, (it) => `#"${'x'.repeat(990)}${it}"`), 'invalid_form'],
  ['bindings of for', `(count (for [${many(3_000, (it) => `x${it} [1]`)}] 1))`, 'invalid_form'],
  ['bindings of doseq', `(doseq [${many(3_000, (it) => `x${it} [1]`)}] 1)`, 'invalid_form'],
  ['300 bindings of for', `(count (for [${many(300, (it) => `x${it} [1]`)}] 1))`, '1'],
  [
    'bindings of for in for',
    nested(12, `(for [${many(200, (it) => `x${it} [1]`)}] `, '1', ')'),
    'invalid_form',
  ],
  [
    'a function that calls itself in 300 bindings',
    `(defn f [n] (count (for [${many(300, (it) => `x${it} [1]`)}] (if (< n 300) (f (inc n)) 1)))) (f 0)`,
    '1',
  ],
  ['modifiers of for', `(count (for [a [1] ${many(9_000, () => ':when a')}] a))`, '1'],
  ['bindings of let', `(let [x0 1 ${many(4_000, (it) => `x${it + 1} x${it}`)}] x4000)`, '1'],
  [
    'bindings of loop',
    `(loop [${many(2_000, (it) => `x${it} ${it}`)}] (if (< x0 3) (recur ${many(2_000, (it) => `(inc x${it})`)}) x1))`,
    '4',
  ],
  ['keys of a pattern', `(let [{:keys [${many(4_000, (it) => `k${it}`)}]} {}] k1)`, 'nil'],
  ['steps of ->', `(-> 1 ${many(40_000, () => 'inc')})`, 'invalid_form'],
  ['steps of some->', `(some-> 1 ${many(40_000, () => 'inc')})`, 'invalid_form'],
  ['steps of cond->', `(cond-> 1 ${many(20_000, () => 'true inc')})`, 'invalid_form'],
  ['steps of as->', `(as-> 1 x ${many(40_000, () => 'x')})`, 'invalid_form'],
  ['900 steps of some->', `(some-> 1 ${many(900, () => 'inc')})`, '901'],
  ['clauses of cond', `(cond ${many(20_000, (it) => `false ${it}`)})`, 'invalid_form'],
  ['clauses of case', `(case 9000 ${many(9_001, (it) => `${it} ${it}`)} 5)`, '9000'],
  ['members of a set', `(count #{${many(20_000, String)}})`, '20000'],
  ['nested vectors', `(count ${nested(60_000, '[', '', ']')})`, 'parse_error'],
  ['nested patterns', `(let [${nested(60_000, '[', 'x', ']')} []] x)`, 'parse_error'],
  ['functions', `(count [${many(4_000, () => '(fn [x] x)')}])`, '4000'],
  ['digits', '9'.repeat(200_000), 'parse_error'],
];

describe('programs of many parts', { timeout: 60_000 }, () => {
  test.each(PROGRAMS)('%s', (_name, source, end) => {
    for (const forced of [false, true]) {
      const result = evaluate(source, { forced });
      const message = result.kind === 'problem' ? result.message : '';

      expect(message).not.toContain('internal fault');
      expect(result.kind === 'value' ? result.printed : result.reason).toBe(end);
    }
  });

  test('patterns over the limit are reported once, and are not compiled', () => {
    const read = readProgram(many(9_000, (it) => `#"[a-z]{900}${it}"`));
    if (!read.ok) throw new Error(read.problem.message);

    const { problems } = checkProgram(read.program, { tools: [], memory: [], asking: true });

    expect(problems.map(({ message }) => message)).toEqual([
      'The patterns of this program are too many or too large.',
    ]);
  });
});
