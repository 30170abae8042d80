/**
 * The cases of the conformance suite, one a line:
 * `expression ;=> printed value ;; policy`, or `;=> !reason` for a problem.
 */
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../conformance/', import.meta.url);

/**
 * How a case stands to Clojure 1.11: the same there, or a problem in both; different, by a row of
 * the differences in docs/lisp.md; without a counterpart, since Clojure has no such name, limit or
 * printed form, or refuses the program; or absent here on purpose.
 */
export type Policy = 'same' | `differs ${number}` | 'own' | 'absent';

/** One line of a data file. */
export interface ConformanceCase {
  readonly file: string;
  readonly line: number;
  readonly expression: string;
  /** What the value prints as, or `!` and the reason of the problem. */
  readonly expected: string;
  readonly policy: Policy;
}

function isPolicy(text: string): text is Policy {
  return /^(?:same|differs \d+|own|absent)$/.test(text);
}

function readFile(file: string): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  for (const [index, text] of readFileSync(new URL(file, FOLDER), 'utf8').split('\n').entries()) {
    const line = index + 1;
    const arrow = text.lastIndexOf(' ;=> ');
    const policyAt = text.lastIndexOf(' ;; ');
    if (arrow < 0) {
      // A line without an answer is blank or a heading; anything else is a slip of the pen.
      if (text !== '' && !text.startsWith(';')) throw new Error(`${file}:${line} has no answer`);
      continue;
    }
    const policy = text.slice(policyAt + 4);
    if (policyAt < arrow || !isPolicy(policy)) throw new Error(`${file}:${line} has no policy`);
    const expression = text.slice(0, arrow);
    cases.push({ file, line, expression, expected: text.slice(arrow + 5, policyAt), policy });
  }
  return cases;
}

/** The names of the data files, sorted. */
export function conformanceFiles(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.txt'))
    .toSorted();
}

/** Every case, in the order of the files. */
export function conformanceCases(): readonly ConformanceCase[] {
  return conformanceFiles().flatMap(readFile);
}
