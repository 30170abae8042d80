import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allBuiltins } from '../../src/lisp/builtins/registry.ts';
import { evaluate } from './support/evaluate.ts';

/** One line of a data file: `expression ;=> printed value` or `expression ;=! reason`. */
interface Case {
  readonly line: number;
  readonly expression: string;
  readonly expected: string;
}

const FOLDER = new URL('conformance/', import.meta.url);

function readCases(name: string): Case[] {
  const cases: Case[] = [];
  const lines = readFileSync(new URL(name, FOLDER), 'utf8').split('\n');
  lines.forEach((text, index) => {
    const at = Math.max(text.lastIndexOf(' ;=> '), text.lastIndexOf(' ;=! '));
    if (at < 0) {
      // A line without an answer is blank or a heading; anything else is a slip of the pen.
      if (text !== '' && !text.startsWith(';'))
        throw new Error(`${name}:${index + 1} has no answer`);
      return;
    }
    const kind = text.slice(at + 1, at + 4);
    const answer = text.slice(at + 5);
    const expected = kind === ';=!' ? `a problem: ${answer}` : answer;
    cases.push({ line: index + 1, expression: text.slice(0, at), expected });
  });
  return cases;
}

/** What the program prints as, in the compiled tier and with all code forced onto the machine. */
function answersTo(expression: string): string[] {
  return [evaluate(expression), evaluate(expression, { forced: true })].map((result) =>
    result.kind === 'value' ? result.printed : `a problem: ${result.reason}`,
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

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.clj'));

describe('conformance', () => {
  test.for(files)('%s', (name) => {
    const differences: string[] = [];
    for (const { line, expression, expected } of readCases(name)) {
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
    const cases = files.flatMap((name) =>
      readCases(name).map(({ expression }) => `${name}: ${expression}`),
    );

    expect(new Set(cases).size).toBe(cases.length);
    expect(cases.length).toBeGreaterThanOrEqual(2500);
  });

  test('show every builtin of the registry at work and, where it can fail, failing', () => {
    const working = new Set<string>();
    const failing = new Set<string>();
    for (const { expression, expected } of files.flatMap(readCases)) {
      const names = expected.startsWith('a problem: ') ? failing : working;
      for (const name of expression.match(NAME) ?? []) names.add(name);
    }
    const builtins = allBuiltins().map(({ name }) => name);

    expect(builtins.filter((name) => !working.has(name))).toEqual([]);
    expect(builtins.filter((name) => !failing.has(name) && !CANNOT_FAIL.has(name))).toEqual([]);
  });
});
