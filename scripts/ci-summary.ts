/**
 * Prints the closing line of a test run from vitest's JSON report, and exits with the run's
 * verdict: 0 if tests ran, none failed and the runner itself ended well, otherwise 1.
 *
 * Usage: ci-summary REPORT.json EXIT_CODE_OF_THE_RUNNER
 */
import { reportIn, summarize } from './test-summary.ts';

const [reportFile, exitCode] = process.argv.slice(2);
if (reportFile === undefined || exitCode === undefined) {
  throw new Error('Expected a report and an exit code: ci-summary REPORT.json EXIT_CODE.');
}
const summary = summarize(reportIn(reportFile), Number(exitCode));
for (const line of summary.notes) console.log(line);
console.log(summary.line);
process.exitCode = summary.passed ? 0 : 1;
