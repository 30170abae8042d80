import { describe, expect, test } from 'vitest';
import { extentOf } from '../support/extent.ts';
import { allBuiltins } from './support/builtins.ts';
import { evaluate } from './support/evaluate.ts';

/** One value of each kind. */
const KINDS: readonly string[] = [
  'nil',
  'true',
  '3',
  '123456789012345678901234567890',
  '2.5',
  '##NaN',
  '"ab"',
  ':k',
  "'s",
  '[1 2]',
  '{:a 1}',
  '#{1 "b"}',
  'inc',
  '(fn [& xs] (first xs))',
  '#"a+"',
  '(LocalDate/of 2024 1 2)',
  '(reduced 1)',
  '(def v 1)',
  '(partial + 1)',
];

/** Two of them, or one among others; in a sample each kind comes in each place now and then. */
const SEVERAL: readonly string[] = [
  ...KINDS.flatMap((a) => KINDS.map((b) => `${a} ${b}`)),
  ...KINDS.map((a) => `identity ${a} [3 1]`),
  ...KINDS.map((a) => `${a} 1 identity`),
];

const REASONS =
  /^(type_error|arity_error|arithmetic_error|not_callable|destructure_error|runtime_error|java_\w+|invalid_java_string|\w+_exceeded|unbound_var|pmap_error|pcalls_error|invalid_form|unknown_tool)$/;

describe('every builtin on every kind of value', () => {
  const names = allBuiltins().map(({ name }) => name);

  test.each(names)('%s gives a value or a problem of the language, on both tiers', (name) => {
    const programs = [
      `(${name})`,
      ...KINDS.map((a) => `(${name} ${a})`),
      ...extentOf(SEVERAL, 12).map((args) => `(${name} ${args})`),
    ];
    const wrong: string[] = [];
    for (const program of programs) {
      const result = evaluate(program, { limits: { fuel: 20_000 } });
      const forced = evaluate(program, { limits: { fuel: 20_000 }, forced: true });
      if (JSON.stringify(result) !== JSON.stringify(forced))
        wrong.push(
          `${program} differs by tier: ${JSON.stringify(result)} ${JSON.stringify(forced)}`,
        );
      if (result.kind === 'problem' && result.message.includes('internal fault'))
        wrong.push(program);
      if (
        result.kind === 'problem' &&
        !REASONS.test(result.reason) &&
        result.reason !== 'blocked'
      ) {
        wrong.push(`${program}: ${result.reason}`);
      }
    }

    expect(wrong.slice(0, 5)).toEqual([]);
  });
});
