import { describe, expect, it } from 'vitest';
import type { IterationView } from '../../../src/console/view/iteration-view.ts';
import { hasFlag, outlineText, type OutlineRow } from '../../../src/console/view/outline.ts';
import { keptNear, sectionOf } from '../../../src/console/view/section.ts';
import type { TimelineSpan } from '../../../src/console/view/spans.ts';
import { timeAxis } from '../../../src/console/view/time-axis.ts';

const DAY_MS = 86_400_000;

function span(from: number, to: number): TimelineSpan {
  const place = { lane: 'model', kind: 'model' as const, label: 'm', iteration: 1 };
  return { id: `${from}`, ...place, from, to, isFailed: false, attempts: 1 };
}

describe('the axis of a timeline', () => {
  it('folds every wait that dwarfs the spans, and counts anew after each', () => {
    const spans = [0, 1, 2, 3].map((day) => span(day * DAY_MS, day * DAY_MS + 2_000));
    const axis = timeAxis(spans, 0, 3 * DAY_MS + 2_000);

    expect(axis.folds.map(({ text }) => text)).toEqual(Array(3).fill('waited 1 d'));
    const widths = spans.map(({ from, to }) => axis.place(to ?? 0) - axis.place(from));
    for (const width of widths) expect(width).toBeGreaterThan(0.1);
    expect(axis.ticks.some(({ text }) => text.startsWith('+'))).toBe(true);
  });

  it('folds no wait that leaves the rest readable', () => {
    const spans = [span(0, 20_000), span(32_000, 60_000)];

    expect(timeAxis(spans, 0, 60_000).folds).toEqual([]);
  });
});

const views = (numbers: readonly number[]): readonly IterationView[] =>
  numbers.map((number) => ({ number }) as IterationView);
const count = (from: number, length: number): readonly number[] =>
  Array.from({ length }, (_, index) => from + index);
const numbersOf = (found: readonly IterationView[]): readonly number[] =>
  found.map(({ number }) => number);

describe('the section of a run', () => {
  it('is its end, or what follows each other around a place', () => {
    const loaded = views([...count(1_290, 50), ...count(4_951, 50)]);

    expect(numbersOf(sectionOf(loaded, null, 200))).toEqual(count(4_951, 50));
    expect(numbersOf(sectionOf(loaded, 1_300, 200))).toEqual(count(1_290, 50));
    expect(numbersOf(sectionOf(loaded, 1_300, 10))).toEqual(count(1_295, 10));
    expect(sectionOf(loaded, 2_000, 200)).toEqual([]);
    expect(sectionOf([], null, 200)).toEqual([]);
  });

  it('has at most so many, with its place in it, wherever that is', () => {
    const loaded = views(count(0, 700));

    for (const anchor of [0, 3, 350, 698, 699, null]) {
      const found = numbersOf(sectionOf(loaded, anchor, 200));
      expect(found).toHaveLength(200);
      expect(found).toContain(anchor ?? 699);
    }
  });

  it('keeps what is near when too much was loaded', () => {
    const kept = numbersOf(keptNear(views(count(1, 5_000)), 1_000));

    expect(kept).toEqual([...count(500, 1_001), ...count(4_501, 500)]);
    expect(keptNear(views(count(1, 60)), null)).toHaveLength(60);
  });
});

describe('a row of the outline', () => {
  it('says in words what its flags say', () => {
    const row: OutlineRow = [1_204, 0, 1_200, 3, 2 + 16, 900, 50];

    expect(outlineText(row)).toBe('Iteration 1\u2009204, 1.2 s, 3 calls, lost attempt, hand-over');
    expect(hasFlag(row, 'lost')).toBe(true);
    expect(hasFlag(row, 'failed')).toBe(false);
  });
});
