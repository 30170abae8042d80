/**
 * Plays the files of a failed run once more, with nothing beside them, and writes their results into
 * the report: on a machine that is busy, a test can fail that is right. Prints what failed first, so
 * that it is mended. Exits with 0 if all of it passed now, else with the code that it got.
 *
 * Usage: ci-again REPORT.json EXIT_CODE_OF_THE_RUNNER
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { failedFiles, reportIn, withSecondRun } from './test-summary.ts';

/** More files do not fail because the machine is busy. */
const MAX_FILES = 5;

const [reportFile, exitCode] = process.argv.slice(2);
if (reportFile === undefined || exitCode === undefined) {
  throw new Error('Expected a report and an exit code: ci-again REPORT.json EXIT_CODE.');
}
process.exitCode = again(reportFile, Number(exitCode));

function again(file: string, code: number): number {
  const report = reportIn(file);
  const failed = failedFiles(report);
  if (failed.length === 0 || failed.length > MAX_FILES) return code;
  const secondFile = `${file}.second`;
  const args = ['run', 'test:all', '--', ...failed.map(({ name }) => name)];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${secondFile}`];
  const alone = [...args, '--no-file-parallelism', ...reporters];
  const { status } = spawnSync('npm', alone, { stdio: 'inherit' });
  const second = reportIn(secondFile);
  if (second === '') return code;
  const merged = withSecondRun(report, second);
  writeFileSync(file, merged);
  const isSound = status === 0 && failedFiles(merged).length === 0;
  console.log(isSound ? 'Failed beside other tests, and passed alone:' : 'Failed at first:');
  for (const { name, tests } of failed) console.log([name, ...tests].join('\n  '));
  return isSound ? 0 : code;
}
