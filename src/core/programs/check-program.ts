/**
 * Everything that can be wrong with a program before it runs, found at once: its form, its names,
 * and the literal arguments of its calls, which only a worker can check.
 */
import * as lisp from '../../lisp.ts';
import type { Run } from '../run/run.ts';
import type { ProgramError } from '../contract/report.ts';
import { programSpecOf, programWorld } from './world.ts';

/** A program that may run, or why it may not. */
export type ProgramCheck =
  | {
      readonly kind: 'program';
      readonly program: lisp.Program;
      readonly warnings: lisp.Checked['warnings'];
    }
  | { readonly kind: 'refused'; readonly error: ProgramError };

/** Reads and checks `source` against the tools, the data and the memory of a run. */
export async function readAndCheck(
  { state, host }: Run,
  source: string,
  tools: readonly lisp.ToolFace[],
): Promise<ProgramCheck> {
  const { spec } = state.head;
  const examined = host.computing.run('check', () => {
    const read = lisp.readProgram(source, programSpecOf(spec).limits);
    if (!read.ok) return read;
    const { program } = read;
    const checked = lisp.checkProgram(program, programWorld(state, tools));
    return { ok: true as const, program, checked };
  });
  if (examined === null) return UNCHECKED;
  if (!examined.ok) return refusedFor(source, 'read', [examined.problem]);
  const { program, checked } = examined;
  const found = await findingsOf(spec.name, host, checked);
  if (found.kind === 'failed') {
    const message = `invalid_tool_args: The arguments of the program could not be checked, so nothing was executed: ${found.message}`;
    return { kind: 'refused', error: { reason: 'invalid_tool_args', phase: 'check', message } };
  }
  const problems = [...checked.problems, ...lisp.literalProblems(program, checked, found.findings)];
  if (problems.length === 0) return { kind: 'program', program, warnings: checked.warnings };
  const inOrder = problems.toSorted((a, b) => a.span.start - b.span.start);
  return refusedFor(source, 'check', inOrder);
}

const UNCHECKED: ProgramCheck = {
  kind: 'refused',
  error: {
    reason: 'parse_error',
    phase: 'check',
    message:
      'parse_error: The program takes too long to check, so nothing was executed. Write a shorter one.',
  },
};

function refusedFor(
  source: string,
  phase: 'read' | 'check',
  problems: readonly lisp.Problem[],
): ProgramCheck {
  const reason = problems[0]?.reason ?? 'parse_error';
  const error: ProgramError = { reason, phase, message: lisp.explainProblems(source, problems) };
  return { kind: 'refused', error };
}

type Found =
  | { readonly kind: 'found'; readonly findings: readonly lisp.Finding[] }
  | { readonly kind: 'failed'; readonly message: string };

/** What is wrong with the literal arguments of a program, by the schemas of the tools. */
async function findingsOf(
  agent: string,
  host: Run['host'],
  { literals }: lisp.Checked,
): Promise<Found> {
  if (literals.length === 0) return { kind: 'found', findings: [] };
  const asked = literals.map(({ tool, path, value }) => ({ tool, path, value }));
  const outcome = await host.checkLiterals({ agent, calls: [], literals: asked });
  switch (outcome.kind) {
    case 'aborted':
      // If the run must stop, the caller finds out; otherwise the calls are checked when they run.
      return { kind: 'found', findings: [] };
    case 'failed':
      return outcome;
    case 'checked':
      return {
        kind: 'found',
        findings: outcome.literals.flatMap(({ findings }, literal) =>
          findings.map(({ path, message }) => ({ literal, path, message })),
        ),
      };
  }
}
