/**
 * The programs of the differential test and the file of Clojure's answers to them.
 *
 * An answer is compared as printed text in the canonical form of `scripts/clojure-oracle.clj`; for a
 * program that throws in Clojure, that the language ends it with a problem, of whatever reason.
 */

import { readFileSync } from 'node:fs';
import { conformanceCases } from '../support/conformance-cases.ts';
import { generatePrograms, generateRegexPrograms, generateRelations } from './generate.ts';
import { generateTemplatePrograms } from './generate-templates.ts';

/** The first line of the file: how many programs there were, and why some are not recorded. */
export interface Totals {
  readonly clojure: string;
  readonly generated: number;
  readonly recorded: number;
  readonly excluded: Readonly<Record<string, number>>;
}

/** One program with Clojure's answer. */
export interface RecordedAnswer {
  readonly program: string;
  /** The canonical text, or `null` when Clojure throws. */
  readonly answer: string | null;
  /** The class of the exception. */
  readonly exception: string | null;
}

/** Long programs say little more than short ones and make the file large. */
const MAX_PROGRAM_LENGTH = 240;

/** Every program that is sent to Clojure, the same on each run. */
export function corpusPrograms(): string[] {
  return [...new Set([...sharedCases(), ...generatedPrograms()])];
}

/** The conformance cases that Clojure must answer as stated. None of them is ever excluded. */
export function sharedCases(): string[] {
  return conformanceCases()
    .filter(({ policy }) => policy === 'same')
    .map(({ expression }) => expression);
}

function generatedPrograms(): string[] {
  return [
    ...generatePrograms(20_240_501, 7300, MAX_PROGRAM_LENGTH),
    ...generateRelations(7, 150),
    ...generateRegexPrograms(11, 1500),
    ...generateTemplatePrograms(13, 12),
  ];
}

/** Why an answer cannot be compared, or `null`: each reason is a known difference. */
export function exclusionOf(kind: string, text: string): string | null {
  if (kind === 'ratio') return 'Clojure answers with a ratio, which the language does not have';
  if (kind === 'unprintable') return 'Clojure answers with a function or another thing that has no text';
  if (kind !== 'error') return null;
  if (text.includes('overflow')) return 'Clojure overflows, integers have any size here';
  if (text.includes('IndexOutOfBounds')) return 'Clojure throws outside of bounds, a signal here';
  return null;
}

/** The committed answers. */
export function readAnswers(): { readonly totals: Totals; readonly answers: RecordedAnswer[] } {
  const text = readFileSync(new URL('answers.jsonl', import.meta.url), 'utf8');
  const [first = '{}', ...lines] = text.trimEnd().split('\n');
  const answers = lines.map((line): RecordedAnswer => {
    const [program, answer, exception] = JSON.parse(line) as [string, string | null, string?];
    return { program, answer, exception: exception ?? null };
  });
  return { totals: JSON.parse(first) as Totals, answers };
}
