/**
 * Checks law M1 across versions of Node: the conformance suite, the programs that are compared with
 * Clojure, and generated programs with effects. Values, notes, fuel, requests and the bytes of every
 * snapshot are those of this version.
 */
import fc from 'fast-check';
import { readAnswers } from '../../test/lisp/clojure/corpus.ts';
import { conformanceCases } from '../../test/lisp/support/conformance-cases.ts';
import { startOther } from '../../test/lisp/support/other-process.ts';
import type { Command } from '../../test/lisp/support/program-process.ts';
import { program } from '../../test/lisp/support/programs.ts';
import type { InstalledNode } from './install-node.ts';
import type { PartOutcome } from './parts.ts';

/** Runs every program in this Node and in `node`. */
export async function compareLanguage({ bin, version }: InstalledNode): Promise<PartOutcome> {
  const commands = languageCommands();
  const expected = await answersOf(process.execPath, commands);
  const answers = await answersOf(bin, commands);
  const different = commands.filter((_, index) => answers[index] !== expected[index]);
  for (const command of different.slice(0, 20)) console.error(JSON.stringify(command));
  return {
    passed: different.length === 0,
    text: `${commands.length} programs in ${version} and ${process.version}, ${different.length} differ`,
  };
}

function languageCommands(): readonly Command[] {
  return [
    ...conformanceCases().map(({ expression }) => ({
      do: 'evaluate' as const,
      source: expression,
    })),
    ...readAnswers().answers.map((answer) => ({
      do: 'evaluate' as const,
      source: answer.program,
    })),
    ...fc
      .sample(program, { seed: 1, numRuns: 500 })
      .map((source) => ({ do: 'run' as const, source })),
  ];
}

/** The answers of a Node, as texts. */
async function answersOf(node: string, commands: readonly Command[]): Promise<readonly string[]> {
  const other = startOther({}, node);
  const answers: string[] = [];
  for (const command of commands) answers.push(JSON.stringify(await other.ask(command)));
  other.close();
  return answers;
}
