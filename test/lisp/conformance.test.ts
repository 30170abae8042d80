import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allBuiltins } from './support/builtins.ts';
import { conformanceCases, conformanceFiles } from './support/conformance-cases.ts';
import { evaluate } from './support/evaluate.ts';

/** What the program prints as, in the compiled tier and with all code forced onto the machine. */
function answersTo(expression: string): string[] {
  return [evaluate(expression), evaluate(expression, { forced: true })].map((result) =>
    result.kind === 'value' ? result.printed : `!${result.reason}`,
  );
}

/** Takes any number of any values. */
const CANNOT_FAIL: ReadonlySet<string> = new Set([
  'list',
  'hash-set',
  'sorted-set',
  'pr-str',
  'println',
  'prn',
]);

const NAME = /[A-Za-z+\-*/<>=?!_.][A-Za-z0-9+\-*/<>=?!_.']*/g;

const cases = conformanceCases();

/** The numbers of the rows under "What is different from Clojure" in docs/lisp.md. */
function differenceRows(): string[] {
  const page = readFileSync(new URL('../../docs/lisp.md', import.meta.url), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('What is different'));
  return [...(section ?? '').matchAll(/^(\d+)\. /gm)].map(([, number = '']) => number);
}

describe('conformance', () => {
  test.for(conformanceFiles())('%s', (name) => {
    const differences: string[] = [];
    for (const { file, line, expression, expected } of cases) {
      if (file !== name) continue;
      for (const got of answersTo(expression)) {
        if (got === expected) continue;
        differences.push(
          `${name}:${line} ${expression}\n  expected ${expected}\n  got      ${got}`,
        );
      }
    }

    expect(differences.slice(0, 40).join('\n'), `${differences.length} differences`).toBe('');
  });

  test('has at least 2,500 cases, each stated once', () => {
    const stated = cases.map(({ file, expression }) => `${file}: ${expression}`);

    expect(new Set(stated).size).toBe(stated.length);
    expect(stated.length).toBeGreaterThanOrEqual(2500);
  });

  test('shows every row of the differences from Clojure, and no other', () => {
    const shown = new Map<string, number>();
    for (const { policy } of cases) {
      if (!policy.startsWith('differs ')) continue;
      const row = policy.slice('differs '.length);
      shown.set(row, (shown.get(row) ?? 0) + 1);
    }

    expect([...shown.keys()].toSorted()).toEqual(differenceRows().toSorted());
    expect([...shown].filter(([, count]) => count < 5)).toEqual([]);
  });

  test('states one policy for an expression, wherever it stands', () => {
    const policies = new Map(cases.map(({ expression, policy }) => [expression, policy]));
    const torn = cases.filter(({ expression, policy }) => policies.get(expression) !== policy);

    expect(torn.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
  });

  test('show every builtin of the registry at work and, where it can fail, failing', () => {
    const working = new Set<string>();
    const failing = new Set<string>();
    for (const { expression, expected } of cases) {
      const names = expected.startsWith('!') ? failing : working;
      for (const name of expression.match(NAME) ?? []) names.add(name);
    }
    const builtins = allBuiltins().map(({ name }) => name);

    expect(builtins.filter((name) => !working.has(name))).toEqual([]);
    expect(builtins.filter((name) => !failing.has(name) && !CANNOT_FAIL.has(name))).toEqual([]);
  });
});
