/** The matrix itself: what it counts, and what its page says. Its kills are in `test/e2e`. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repeatsIn } from './effects.ts';
import { jobsOf } from './matrix.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { momentsOf, type Note } from './moments.ts';
import { matrixPage, PAGE_FILE } from './page.ts';
import { isRight, readResults, type RowResult } from './results.ts';
import { MATRIX_SCENARIOS } from './scenarios.ts';
import { spansDiffer } from './spans.ts';
import { sumsDiffer } from './sums.ts';

const ROW: RowResult = {
  scenario: 'react',
  victim: 'worker',
  moments: 12,
  kills: 12,
  runs: 2,
  lost: [],
  unequal: [],
  progressMs: [1_000, 2_000, 9_000],
  again: { read: 2, idempotent: 1, once: 0 },
  twice: { idempotent: 0, once: 0 },
};

describe('the effects that the matrix counts', () => {
  it('are twice when a `once` tool began twice, and when a write has two keys', () => {
    const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
    const line = (effect: string, key: string, what: string, step = 'begun'): string =>
      `${JSON.stringify({ effect, key, what, step })}\n`;
    const lines = [
      line('read', 'r1/1.1', 'look 1'),
      line('read', 'r1/1.1', 'look 1'),
      line('idempotent', 'r1/2.1', 'put 1'),
      line('idempotent', 'r1/2.1', 'put 1'),
      line('idempotent', 'r1/2.1', 'put 1', 'done'),
      line('idempotent', 'r1/3.1', 'put 1'),
      line('idempotent', 'r2/2.1', 'put 1'),
      line('once', 'r1/4.1', 'pay 1'),
      line('once', 'r1/4.1', 'pay 1'),
    ];
    writeFileSync(join(folder, 'effects.jsonl'), lines.join(''));

    expect(repeatsIn(folder)).toEqual({
      again: { read: 1, idempotent: 2, once: 1 },
      twice: { idempotent: 1, once: 1 },
    });
  });
});

describe('the sums that the matrix compares', () => {
  it('differ by value, by counter and by number of runs', () => {
    const run = { value: 'done', counters: { calls: 3 }, unknown: 0 };

    expect(sumsDiffer([run], [run])).toEqual([]);
    expect(sumsDiffer([], [run])).toEqual(['0 runs, not 1']);
    expect(sumsDiffer([{ value: 'x', counters: { calls: 4 }, unknown: 0 }], [run])).toEqual([
      'value "x"',
      'calls is 4, not 3',
    ]);
  });
});

describe('the spans that the matrix compares', () => {
  const span = (spanId: string, attributes: SpanData['attributes'] = {}): SpanData => ({
    traceId: 't',
    spanId,
    name: `span ${spanId}`,
    kind: 'internal',
    startMs: 0,
    endMs: 0,
    attributes: { 'everloop.workflow.id': 'run', 'everloop.seq': 1, ...attributes },
  });

  it('are the same ones, whenever they were made and however often', () => {
    const late = { ...span('a'), startMs: 5, endMs: 6 };
    const tried = span('b', { 'everloop.attempts': 2, 'everloop.losses': 1 });
    expect(spansDiffer([late, late, tried], [span('a'), span('b')])).toEqual([]);
    // One task saw two calls end, the task before it saw the first of them.
    expect(spansDiffer([span('a'), span('a', { 'everloop.seq': 2 })], [span('a')])).toEqual([]);
  });

  it('differ if one is missing, one more, another one, or comes in two ways', () => {
    const failed = { ...span('a'), error: 'model_error' };
    expect(spansDiffer([], [span('a')])).toEqual(['no span a of run, event 1']);
    expect(spansDiffer([span('a')], [])).toEqual(['one more, span a of run, event 1']);
    expect(spansDiffer([failed], [span('a')])).toHaveLength(1);
    expect(
      spansDiffer([span('a', { 'everloop.attempts': 2 }), span('a')], [span('a')]),
    ).toHaveLength(1);
    expect(spansDiffer([span('a'), failed], [span('a')])).toEqual([
      expect.stringMatching(/^in two ways, span a of run, event 1: .*, then .*model_error/),
    ]);
    // The run does not know what a `once` call did whose worker died.
    expect(spansDiffer([{ ...span('a'), error: 'unknown' }], [span('a')])).toEqual([]);
  });
});

describe('the moments of a run', () => {
  const notes: readonly Note[] = [
    { kind: 'event', key: '#1', type: 'agent:execution:before', activity: '' },
    { kind: 'activity', key: ' callModel 1 reply' },
    {
      kind: 'event',
      key: '#2',
      type: 'agent:model_call:after',
      activity: ' callModel 1 reply',
    },
    { kind: 'activity', key: ' judgeAnswer 1' },
    { kind: 'event', key: '#3', type: 'agent:execution:after', activity: '' },
  ];

  it('are its events, activities in place of the events of their ends', () => {
    expect(momentsOf(notes)).toEqual(['#1', ' callModel 1 reply', '#3', ' judgeAnswer 1']);
  });

  it('are shared out among jobs, each moment and point once', () => {
    const moments = Array.from({ length: 30 }, (_, index) => `#${index}`);
    const [scenario = MATRIX_SCENARIOS[1]] = MATRIX_SCENARIOS;
    if (scenario === undefined) throw new Error('Expected a scenario.');
    const row = { scenario, victim: 'worker', points: ['before', 'write'] } as const;

    const jobs = jobsOf(row, moments);

    for (const point of row.points) {
      const own = jobs.filter((job) => job.point === point).flatMap((job) => job.moments);
      expect(own.toSorted()).toEqual(moments.toSorted());
    }
    expect(jobsOf({ ...row, atMost: 3 }, moments).flatMap((job) => job.moments)).toEqual(
      ['before', 'write'].flatMap(() => ['#5', '#15', '#25']),
    );
  });
});

describe('the page', () => {
  it('says in its first line how many kills there were, and how many runs were lost', async () => {
    const page = await matrixPage({ rows: [ROW, { ...ROW, victim: 'server', kills: 1_000 }] });

    expect(page.split('\n')[0]).toBe('# 1,012 kills, 0 runs lost');
    expect(page).toMatch(
      /\| react +\| 12 +\| 12 +\| 0 +\| 2, 1, 0 +\| 0, 0 +\| equal \| 2\.0 s \| 9\.0 s \|/,
    );
  });

  it('is what was seen', async () => {
    const page = readFileSync(new URL(`../../${PAGE_FILE}`, import.meta.url), 'utf8');

    expect(page).toBe(await matrixPage(readResults()));
  });

  it('hides no loss', async () => {
    const lost = { ...ROW, lost: ['react.1: error'], unequal: ['calls is 4, not 3'] };

    expect((await matrixPage({ rows: [lost] })).split('\n')[0]).toBe('# 12 kills, 1 run lost');
    expect(isRight(lost)).toBe(false);
    expect(isRight(ROW)).toBe(true);
  });
});
