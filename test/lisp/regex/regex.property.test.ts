import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { groupsOf, type Regex, type RegexSpan } from '../../../src/lisp/regex/program.ts';
import { compileRegex, matchRegex } from '../../../src/lisp/regex/regex.ts';
import { simulate } from '../../../src/lisp/regex/simulate.ts';
import { patterns, texts } from './pattern-arbitrary.ts';
import { extent } from '../../support/extent.ts';

type Groups = readonly (RegexSpan | null)[] | null;

const modes = fc.constantFrom('find', 'full');

function compiled(pattern: string): Regex | null {
  const result = compileRegex(pattern);
  // Nested counts of the generator may pass the limit on instructions; nothing else is refused.
  if (result.kind === 'bad_regex') expect(result.message).toMatch(/5,000 instructions|1,000 char/);
  return result.kind === 'regex' ? result.regex : null;
}

/** Every match of the text in turn, as `re-seq` would take them. */
function allMatches(regex: Regex, text: string): Groups[] {
  const found: Groups[] = [];
  for (let from = 0; from <= text.length;) {
    const { groups } = matchRegex(regex, text, from, 'find');
    const whole = groups?.[0];
    if (groups === null || whole === undefined || whole === null) break;
    found.push(groups);
    from = whole.end > whole.start ? whole.end : whole.end + 1;
  }
  return found;
}

function re2Groups(pattern: string, text: string, mode: string): Groups {
  const matcher = RE2JS.compile(pattern).matcher(text);
  if (!(mode === 'full' ? matcher.matches() : matcher.find())) return null;
  return Array.from({ length: matcher.groupCount() + 1 }, (_, group) =>
    matcher.start(group) < 0 ? null : { start: matcher.start(group), end: matcher.end(group) },
  );
}

function simulatedGroups(regex: Regex, text: string, mode: string): Groups {
  const search = { regex, text, from: 0, full: mode === 'full', maxSteps: Infinity };
  const result = simulate(search, 0, 0);
  return result.kind === 'found' ? groupsOf(result.slots) : null;
}

describe('the regular-expression engine', () => {
  test('finds what re2js finds, groups included', () => {
    const skipped: string[] = [];

    fc.assert(
      fc.property(patterns, texts, modes, (pattern, text, mode) => {
        const regex = compiled(pattern);
        if (regex === null) return;
        let expected: Groups;
        try {
          expected = re2Groups(pattern, text, mode);
        } catch {
          // RE2 bounds nested counts more tightly.
          skipped.push(pattern);
          return;
        }
        const found = matchRegex(regex, text, 0, mode === 'full' ? 'full' : 'find').groups;
        expect(found).toEqual(expected);
      }),
      { numRuns: extent(6_000) },
    );

    expect(skipped.length).toBeLessThan(extent(60));
  });

  test('gives the same answer by backtracking and by simulation', () => {
    fc.assert(
      fc.property(patterns, texts, modes, (pattern, text, mode) => {
        const regex = compiled(pattern);
        if (regex === null) return;
        const found = matchRegex(regex, text, 0, mode === 'full' ? 'full' : 'find').groups;
        expect(found).toEqual(simulatedGroups(regex, text, mode));
      }),
      { numRuns: extent(6_000) },
    );
  });

  test('goes on from any place as if the text began there, but for assertions', () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        fc.pre(!/\^|\\[bBA]/.test(pattern));
        const regex = compiled(pattern);
        if (regex === null) return;
        for (const groups of allMatches(regex, text)) {
          const start = groups?.[0]?.start ?? 0;
          const again = matchRegex(regex, text.slice(start), 0, 'find').groups;
          const moved = again?.map((span) =>
            span === null ? null : { start: span.start + start, end: span.end + start },
          );
          expect(moved).toEqual(groups);
        }
      }),
      { numRuns: extent(2_000) },
    );
  });

  test('answers any text with a regex or a refusal, and any regex survives JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), texts, (pattern, text) => {
        const result = compileRegex(pattern);
        if (result.kind === 'bad_regex') {
          expect(result.at).toBeLessThanOrEqual(pattern.length);
          return;
        }
        const copy = JSON.parse(JSON.stringify(result.regex)) as Regex;
        expect(copy).toEqual(result.regex);
        expect(matchRegex(copy, text, 0, 'find')).toEqual(
          matchRegex(result.regex, text, 0, 'find'),
        );
      }),
      { numRuns: extent(3_000) },
    );
  });

  test('takes steps in proportion to pattern and text', () => {
    fc.assert(
      fc.property(patterns, texts, fc.integer({ min: 1, max: 30 }), (pattern, text, copies) => {
        const regex = compiled(pattern);
        if (regex === null) return;
        const long = text.repeat(copies);
        const { steps } = matchRegex(regex, `${long}\n`, 0, 'full');
        const slots = 2 * (regex.groupCount + 1);
        const bound = (regex.code.length / 4) * (long.length + 2) * (3 + slots / 4);
        expect(steps).toBeLessThanOrEqual(bound + 10);
      }),
      { numRuns: extent(2_000) },
    );
  });

  test('stops when it may take no more steps', () => {
    fc.assert(
      fc.property(patterns, texts, fc.integer({ min: 0, max: 40 }), (pattern, text, maxSteps) => {
        const regex = compiled(pattern);
        if (regex === null) return;
        const free = matchRegex(regex, text, 0, 'find');
        const bounded = matchRegex(regex, text, 0, 'find', maxSteps);
        if (bounded.exhausted === true) expect(free.steps).toBeGreaterThan(maxSteps);
        else expect(bounded).toEqual(free);
      }),
      { numRuns: extent(2_000) },
    );
  });
});
