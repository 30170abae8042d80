import { readFileSync } from 'node:fs';

/** The result of a test run. */
export interface TestSummary {
  /** `12 passed, 0 failed, 1 skipped` */
  readonly line: string;
  /** Whether tests ran and nothing failed. */
  readonly passed: boolean;
  /** Problems beyond the counts: files that could not be loaded, a runner that died. */
  readonly notes: readonly string[];
}

/**
 * Counts the tests in vitest's JSON report. A file that failed before its tests, a missing report
 * and a runner that failed although every test passed (an unhandled error) count one failure each.
 */
export function summarize(reportText: string, runnerExitCode: number): TestSummary {
  const files = readFiles(reportText);
  const notes: string[] = [];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of files ?? []) {
    const statuses = file.tests.map(({ status }) => status);
    counts.passed += statuses.filter((status) => status === 'passed').length;
    const failed = statuses.filter((status) => status === 'failed').length;
    counts.failed += failed;
    counts.skipped += statuses.filter((status) => !['passed', 'failed'].includes(status)).length;
    if (file.hasFailed && failed === 0) {
      counts.failed += 1;
      notes.push(`${file.name} failed before or beside its tests.`);
    }
  }
  if (files === undefined) {
    counts.failed += 1;
    notes.push('The test runner left no report that can be read.');
  } else if (runnerExitCode !== 0 && counts.failed === 0) {
    counts.failed += 1;
    notes.push(`The test runner ended with code ${runnerExitCode} although no test failed.`);
  }
  if (counts.passed + counts.failed + counts.skipped === 0) notes.push('No test ran.');
  return {
    line: `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
    passed: counts.failed === 0 && counts.passed > 0,
    notes,
  };
}

/** The text of a report; empty if the runner died before it wrote one. */
export function reportIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A file in which something failed. */
export interface FailedFile {
  /** Its absolute path. */
  readonly name: string;
  /** Names of the tests that failed; none if the file failed before or beside them. */
  readonly tests: readonly string[];
}

/** The files of a report in which something failed; none if there is no report that can be read. */
export function failedFiles(reportText: string): readonly FailedFile[] {
  return (readFiles(reportText) ?? [])
    .filter((file) => file.hasFailed)
    .map(({ name, tests }) => ({
      name,
      tests: tests.filter(({ status }) => status === 'failed').map((test) => test.name),
    }));
}

/**
 * The report with the results of a second run of the files that failed. A file that the second run
 * does not have stays failed.
 */
export function withSecondRun(reportText: string, secondText: string): string {
  const report = JSON.parse(reportText) as Report;
  const second = JSON.parse(secondText) as Report;
  // A file of two projects comes twice.
  const names = new Set(second.testResults.map(({ name }) => name));
  const testResults = [
    ...report.testResults.filter(({ name }) => !names.has(name)),
    ...second.testResults,
  ];
  return JSON.stringify({ ...report, testResults });
}

/** What this needs of a report of vitest. */
interface Report {
  readonly testResults: readonly { readonly name: string }[];
}

interface TestFile {
  readonly name: string;
  readonly hasFailed: boolean;
  readonly tests: readonly { readonly name: string; readonly status: string }[];
}

function readFiles(reportText: string): readonly TestFile[] | undefined {
  let report: unknown;
  try {
    report = JSON.parse(reportText);
  } catch {
    return undefined;
  }
  const results = memberOf(report, 'testResults');
  if (!Array.isArray(results)) return undefined;
  return results.map((file: unknown) => {
    const tests = memberOf(file, 'assertionResults');
    return {
      name: String(memberOf(file, 'name')),
      hasFailed: memberOf(file, 'status') === 'failed',
      tests: (Array.isArray(tests) ? tests : []).map((test: unknown) => ({
        name: String(memberOf(test, 'fullName')),
        status: String(memberOf(test, 'status')),
      })),
    };
  });
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
