/**
 * Checks law M1 across versions of Node: `npm run test:nodes [-- 20 22 24]`. In each version it
 * runs the conformance suite, the programs that are compared with Clojure, and generated programs
 * with effects. It compares values, notes, fuel, requests and the bytes of every snapshot with
 * those of this version.
 *
 * The binaries come from the npm package `node`.
 */
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { readAnswers } from '../test/lisp/clojure/corpus.ts';
import { conformanceCases } from '../test/lisp/support/conformance-cases.ts';
import { startOther } from '../test/lisp/support/other-process.ts';
import type { Command } from '../test/lisp/support/program-process.ts';
import { program } from '../test/lisp/support/programs.ts';

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24'];

const commands: readonly Command[] = [
  ...conformanceCases().map(({ expression }) => ({ do: 'evaluate' as const, source: expression })),
  ...readAnswers().answers.map((answer) => ({ do: 'evaluate' as const, source: answer.program })),
  ...fc
    .sample(program, { seed: 1, numRuns: 500 })
    .map((source) => ({ do: 'run' as const, source })),
];

/** The answers of another version, as texts. */
async function answersOf(node: string): Promise<readonly string[]> {
  const other = startOther({}, node);
  const answers: string[] = [];
  for (const command of commands) answers.push(JSON.stringify(await other.ask(command)));
  other.close();
  return answers;
}

const expected = await answersOf(process.execPath);
for (const version of versions) {
  const node = execFileSync('npx', ['-y', `node@${version}`, '-p', 'process.execPath'], {
    encoding: 'utf8',
  }).trim();
  const name = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const answers = await answersOf(node);
  const different = commands.filter((_, index) => answers[index] !== expected[index]);
  console.log(
    `${name} and ${process.version}: ${commands.length} programs, ${different.length} differ`,
  );
  for (const command of different.slice(0, 20)) console.error(JSON.stringify(command));
  if (different.length > 0) process.exitCode = 1;
}
