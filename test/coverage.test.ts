import { describe, expect, it } from 'vitest';
import { COVERAGE_ROWS, MODE_ROWS, taggedFiles } from '../scripts/coverage.ts';
import { isServerTest } from './support/server-tests.ts';

describe.each([
  { name: 'the loop', allRows: COVERAGE_ROWS, files: taggedFiles(), count: 58 },
  { name: 'modes', allRows: MODE_ROWS, files: taggedFiles('sub'), count: 19 },
])('the rows of acceptance of $name', ({ allRows, files, count }) => {
  it('are numbered without a gap', () => {
    expect(allRows.map(({ row }) => row)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  });

  it('all have a test that needs no server', () => {
    const bare = allRows.filter(
      ({ row }) => !files.some(({ rows, onServer }) => !onServer && rows.includes(row)),
    );

    expect(bare).toEqual([]);
  });

  it('that depend on Temporal have one on a server', () => {
    const bare = allRows
      .filter(({ onServer }) => onServer)
      .filter(({ row }) => !files.some((file) => file.onServer && file.rows.includes(row)));

    expect(bare).toEqual([]);
  });

  it('all have a table, and compare whole values', () => {
    const lacking = (pattern: RegExp): readonly number[] =>
      allRows
        .filter(
          ({ row }) => !files.some(({ rows, text }) => rows.includes(row) && pattern.test(text)),
        )
        .map(({ row }) => row);

    expect(lacking(/\.each\b/)).toEqual([]);
    expect(lacking(/\.(?:toEqual|toStrictEqual|toBe)\(/)).toEqual([]);
  });

  it('are those that tags name', () => {
    const known = new Set(allRows.map(({ row }) => row));

    const unknown = files.flatMap(({ path, rows }) =>
      rows.filter((row) => !known.has(row)).map((row) => `${path}: ${row}`),
    );

    expect(unknown).toEqual([]);
  });
});

describe('the project of a file of tests', () => {
  it.each([
    { path: 'test/e2e/steps.test.ts', server: true },
    { path: 'test/worker/local.server.test.ts', server: true },
    { path: 'test/workflows/deep/er.test.ts', server: true },
    { path: 'test/core/runs/loop.test.ts', server: false },
    { path: 'test/e2e-like/steps.test.ts', server: false },
  ])('of $path', ({ path, server }) => {
    expect(isServerTest(path)).toBe(server);
  });
});
