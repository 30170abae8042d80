import { describe, expect, test } from 'vitest';
import { extentOf } from '../support/extent.ts';
import { corpusPrograms, readAnswers } from './clojure/corpus.ts';
import { evaluate } from './support/evaluate.ts';

/** Differences shown in full when the test fails. */
const SHOWN = 25;

describe('the shared subset with Clojure', () => {
  const { totals, answers } = readAnswers();
  const programs = corpusPrograms();

  test('has an answer or a counted exclusion for every generated program', () => {
    const excluded = Object.values(totals.excluded).reduce((sum, count) => sum + count, 0);

    expect(totals.generated).toBe(programs.length);
    expect(totals.recorded).toBe(answers.length);
    expect(totals.recorded + excluded).toBe(totals.generated);
    expect(totals.recorded).toBeGreaterThanOrEqual(5000);
  });

  test('still consists of the programs that the generator makes', () => {
    const generated = new Set(programs);

    expect(answers.filter(({ program }) => !generated.has(program))).toEqual([]);
  });

  test('means what it means in Clojure, in both tiers', { timeout: 120_000 }, () => {
    const differences: string[] = [];
    const compared = extentOf(answers, 12);
    for (const { program, answer, exception } of compared) {
      for (const forced of [false, true]) {
        const result = evaluate(program, { forced });
        const printed = result.kind === 'value' ? result.printed : null;
        if (printed === answer) continue;
        const ours = result.kind === 'value' ? result.printed : `a problem: ${result.reason}`;
        differences.push(`${program}\n  Clojure: ${answer ?? exception ?? ''}\n  ours:    ${ours}`);
      }
    }

    const excluded = Object.entries(totals.excluded).map(([why, count]) => `  ${count}: ${why}`);
    process.stdout.write(
      [
        `Clojure ${totals.clojure}: ${totals.generated} programs generated,`,
        `${compared.length} compared of ${answers.length}, ${totals.generated - answers.length} excluded:`,
        `\n${excluded.join('\n')}\n`,
      ].join(' '),
    );
    expect(differences.length, differences.slice(0, SHOWN).join('\n')).toBe(0);
  });
});
