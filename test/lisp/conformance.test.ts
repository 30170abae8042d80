import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { evaluate } from './support/evaluate.ts';

const FOLDER = fileURLToPath(new URL('./conformance/', import.meta.url));

/** One line of a data file. */
interface Case {
  readonly line: number;
  readonly source: string;
  readonly expected: string;
}

/** `expression ;=> value` and `expression ;=! reason`; other lines are comments or blank. */
function casesOf(text: string): readonly Case[] {
  const cases: Case[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const found = /^(.*?)\s*;=(>|!)\s*(.*?)\s*(?:;;.*)?$/.exec(line);
    if (found === null || line.trimStart().startsWith(';')) continue;
    const [, source = '', mark = '', wanted = ''] = found;
    const isProblem = mark === '!' || wanted.startsWith('!');
    const expected = isProblem ? `!${wanted.replace(/^!/, '')}` : wanted;
    cases.push({ line: index + 1, source, expected });
  }
  return cases;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(clj|txt)$/.test(name))
      .toSorted();
  } catch {
    // The data files are a folder of their own and may not be there in a partial checkout.
    return [];
  }
}

const files = filesIn(FOLDER);

describe.skipIf(files.length === 0)('conformance', () => {
  test.each(files)('%s', (file) => {
    const cases = casesOf(readFileSync(`${FOLDER}${file}`, 'utf8'));
    const differences: string[] = [];
    for (const { line, source, expected } of cases) {
      const results = [evaluate(source), evaluate(source, { forced: true })];
      for (const result of results) {
        const got = result.kind === 'value' ? result.printed : `!${result.reason}`;
        if (got !== expected)
          differences.push(`${file}:${line} ${source}\n  expected ${expected}\n  got      ${got}`);
      }
    }

    expect(cases.length).toBeGreaterThan(0);
    expect(differences.slice(0, 40).join('\n'), `${differences.length} differences`).toBe('');
  });
});
