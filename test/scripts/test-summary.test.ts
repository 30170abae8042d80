import { describe, expect, it } from 'vitest';
import { summarize } from '../../scripts/test-summary.ts';

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
