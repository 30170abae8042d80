import { describe, expect, it } from 'vitest';
import { failedFiles, summarize, withSecondRun } from '../../scripts/test-summary.ts';

/** A report as vitest writes it, with one file of these statuses. */
function report(statuses: readonly string[], fileStatus = 'passed'): string {
  const assertionResults = statuses.map((status) => ({ status }));
  return JSON.stringify({
    testResults: [{ name: 'a.test.ts', status: fileStatus, assertionResults }],
  });
}

describe('summarize', () => {
  it.each([
    {
      name: 'passes when all tests do',
      report: report(['passed', 'passed']),
      exitCode: 0,
      summary: { line: '2 passed, 0 failed, 0 skipped', passed: true, notes: [] },
    },
    {
      name: 'counts skipped and todo tests',
      report: report(['passed', 'pending', 'todo', 'skipped']),
      exitCode: 0,
      summary: { line: '1 passed, 0 failed, 3 skipped', passed: true, notes: [] },
    },
    {
      name: 'fails with a failed test',
      report: report(['passed', 'failed'], 'failed'),
      exitCode: 1,
      summary: { line: '1 passed, 1 failed, 0 skipped', passed: false, notes: [] },
    },
    {
      name: 'counts a file that could not be loaded',
      report: report([], 'failed'),
      exitCode: 1,
      summary: {
        line: '0 passed, 1 failed, 0 skipped',
        passed: false,
        notes: ['a.test.ts failed before or beside its tests.'],
      },
    },
    {
      name: 'fails when the runner failed beside the tests',
      report: report(['passed']),
      exitCode: 1,
      summary: {
        line: '1 passed, 1 failed, 0 skipped',
        passed: false,
        notes: ['The test runner ended with code 1 although no test failed.'],
      },
    },
    {
      name: 'fails when no test ran',
      report: '{"testResults":[]}',
      exitCode: 0,
      summary: { line: '0 passed, 0 failed, 0 skipped', passed: false, notes: ['No test ran.'] },
    },
    {
      name: 'fails when only skipped tests are there',
      report: report(['skipped']),
      exitCode: 0,
      summary: { line: '0 passed, 0 failed, 1 skipped', passed: false, notes: [] },
    },
    {
      name: 'fails without a report',
      report: '',
      exitCode: 137,
      summary: {
        line: '0 passed, 1 failed, 0 skipped',
        passed: false,
        notes: ['The test runner left no report that can be read.'],
      },
    },
  ])('$name', ({ report: text, exitCode, summary }) => {
    expect(summarize(text, exitCode)).toEqual(summary);
  });
});

describe('a second run of what failed', () => {
  const file = (name: string, ...tests: readonly string[]): object => ({
    name,
    status: tests.includes('failed') || tests.length === 0 ? 'failed' : 'passed',
    assertionResults: tests.map((status, index) => ({ status, fullName: `test ${index + 1}` })),
  });
  const reportOf = (...testResults: readonly object[]): string => JSON.stringify({ testResults });
  const first = reportOf(
    file('sound', 'passed', 'passed'),
    file('shaky', 'passed', 'failed'),
    file('shaky', 'passed', 'passed'),
    file('unloaded'),
  );

  it('is of the files that failed, in whichever project', () => {
    expect(failedFiles(first)).toEqual([
      { name: 'shaky', tests: ['test 2'] },
      { name: 'unloaded', tests: [] },
    ]);
    expect(failedFiles('')).toEqual([]);
  });

  it('counts in place of the first', () => {
    const second = reportOf(
      file('shaky', 'passed', 'passed'),
      file('shaky', 'passed', 'passed'),
      file('unloaded', 'passed'),
    );

    expect(summarize(withSecondRun(first, second), 0)).toEqual({
      line: '7 passed, 0 failed, 0 skipped',
      passed: true,
      notes: [],
    });
  });

  it('leaves a file failed that it does not have, or that fails again', () => {
    const lacking = withSecondRun(first, reportOf(file('shaky', 'passed', 'passed')));
    const again = withSecondRun(first, reportOf(file('shaky', 'failed'), file('unloaded')));

    expect(failedFiles(lacking).map(({ name }) => name)).toEqual(['unloaded']);
    expect(failedFiles(again).map(({ name }) => name)).toEqual(['shaky', 'unloaded']);
  });
});
