/**
 * Records the answers of real Clojure to the generated programs: `npm run test:clojure`.
 *
 * Needs Java and Maven, which fetches Clojure's jars into a temporary folder. All programs run in
 * one Java process. The answers go to `test/lisp/clojure/answers.jsonl`, so that tests need
 * no Java: first a line of totals, then `[program, answer]` for a value or
 * `[program, null, class]` for an exception.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  corpusPrograms,
  exclusionOf,
  sharedCases,
  type Totals,
} from '../test/lisp/clojure/corpus.ts';

const JARS = [
  'org.clojure:clojure:1.11.4',
  'org.clojure:spec.alpha:0.3.218',
  'org.clojure:core.specs.alpha:0.2.62',
];

const ORACLE = fileURLToPath(new URL('clojure-oracle.clj', import.meta.url));
const ANSWERS = fileURLToPath(new URL('../test/lisp/clojure/answers.jsonl', import.meta.url));

function fetchJars(folder: string): string {
  for (const jar of JARS) {
    execFileSync(
      'mvn',
      ['-q', 'dependency:copy', `-Dartifact=${jar}`, `-DoutputDirectory=${folder}`],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
  }
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .join(delimiter);
}

function askClojure(programs: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'clojure-'));
  try {
    const classPath = fetchJars(folder);
    const output = execFileSync('java', ['-Xmx1g', '-cp', classPath, 'clojure.main', ORACLE], {
      input: programs.map((program) => `${JSON.stringify(program)}\n`).join(''),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return output.trimEnd().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const programs = corpusPrograms();
const shared = new Set(sharedCases());
const answers = askClojure(programs);
const excluded: Record<string, number> = {};
const lines: string[] = [];
programs.forEach((program, index) => {
  const answer = answers[index] ?? '';
  const space = answer.indexOf(' ');
  const kind = answer.slice(0, space);
  const text = JSON.parse(answer.slice(space + 1)) as string;
  if (shared.has(program) && kind !== 'value' && kind !== 'error') {
    throw new Error(`${program} is marked as the same, but Clojure's answer is ${kind}`);
  }
  const reason = shared.has(program) ? null : exclusionOf(kind, text);
  if (reason !== null) excluded[reason] = (excluded[reason] ?? 0) + 1;
  else lines.push(JSON.stringify(kind === 'value' ? [program, text] : [program, null, text]));
});
const totals: Totals = {
  clojure: '1.11.4',
  generated: programs.length,
  recorded: lines.length,
  excluded,
};
writeFileSync(ANSWERS, `${[JSON.stringify(totals), ...lines].join('\n')}\n`);
process.stdout.write(`${JSON.stringify(totals, null, 2)}\n`);
