/**
 * Reads, checks and links programs.
 *
 * I1  Nothing of a program runs here.
 * I2  A program's id depends on its text alone.
 * I3  The code of a program depends on its text and its world. Offsets of functions depend only on
 *     the text, so a snapshot finds its code again.
 */
import type { FnCode } from '../ast/core-ast.ts';
import { type Analysis, type Definition, type LiteralArgument, type World } from './analysis.ts';
import { analyzeForm } from './analyze.ts';
import { findDefinitions } from './definitions.ts';
import { finish, newCode } from './functions.ts';
import { fnScope, type FnScope } from './scope.ts';
import { limitsFrom, type Limits } from '../base/limits.ts';
import type { Problem } from '../base/problem.ts';
import type { Form } from '../reader/form.ts';
import { readForms } from '../reader/read.ts';
import { sha256 } from '../base/sha256.ts';

/** A program that has been read. */
export interface Program {
  /** `l1:` and 32 hexadecimal digits of the SHA-256 of its text. */
  readonly id: string;
  readonly source: string;
  readonly forms: readonly Form[];
  readonly definitions: ReadonlyMap<string, Definition>;
}

/** What the checks found, and what the host has to check too. */
export interface Checked {
  /** In source order. A program with a problem must not be started. */
  readonly problems: readonly Problem[];
  /** Shown to the author; the program may run. */
  readonly warnings: readonly Problem[];
  /** Literal arguments of tool calls, for the host to validate against the tools' schemas. */
  readonly literals: readonly LiteralArgument[];
}

/** A problem that the host found in `Checked.literals[literal]`. */
export interface Finding {
  readonly literal: number;
  /** Property names and indexes below the argument. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The code of a program: its top-level forms, and every function in it by its offset. */
export interface Linked {
  readonly program: Program;
  readonly forms: readonly FnCode[];
  readonly codes: ReadonlyMap<number, FnCode>;
}

/** Reads a program. Fails with the first parse error. Deterministic, linear in the text. */
export function readProgram(
  source: string,
  limits: Partial<Limits> = {},
):
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly problem: Problem } {
  const read = readForms(source, limitsFrom(limits));
  if (!read.ok) return read;
  const program: Program = {
    id: codeId(source),
    source,
    forms: read.forms,
    definitions: findDefinitions(read.forms),
  };
  return { ok: true, program };
}

/** The id of a program. */
export function codeId(source: string): string {
  return `l1:${sha256(source).slice(0, 32)}`;
}

/** All problems of `program` in `world`. */
export function checkProgram(program: Program, world: World): Checked {
  const { analysis } = analyzeProgram(program, world);
  return {
    problems: inOrder(analysis.problems),
    warnings: inOrder(analysis.warnings),
    literals: analysis.literals,
  };
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => a.span.start - b.span.start);
}

/** The host's findings about literal arguments, as problems of the program. */
export function literalProblems(
  _program: Program,
  checked: Checked,
  findings: readonly Finding[],
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const { literal, path, message } of findings) {
    const found = checked.literals[literal];
    if (found === undefined) continue;
    const where = [...found.path, ...path].map(String).join('.');
    const text = `\`${found.tool}\` expects \`${where}\` ${message}`;
    problems.push({ reason: 'invalid_tool_args', message: text, span: found.span });
  }
  return inOrder(problems);
}

/** The code of a program that `checkProgram` found without problems. */
export function linkProgram(program: Program, world: World): Linked {
  const { forms, analysis } = analyzeProgram(program, world);
  return { program, forms, codes: analysis.codes };
}

function analyzeProgram(
  program: Program,
  world: World,
): { readonly forms: readonly FnCode[]; readonly analysis: Analysis } {
  const analysis: Analysis = {
    programId: program.id,
    world,
    tools: new Map(world.tools.map((tool) => [tool.name, tool])),
    memory: new Set(world.memory),
    definitions: program.definitions,
    problems: [],
    warnings: [],
    literals: [],
    codes: new Map(),
    nesting: 0,
    fresh: 0,
    reported: new Set(),
    parallel: 0,
    analyze: (form, scope, tail) => analyzeForm(analysis, form, scope, tail),
  };
  const forms = program.forms.map((form, index) => topLevel(analysis, form, index));
  return { forms, analysis };
}

/** A top-level form as a function without parameters. Its offset is negative: −1 for the first. */
function topLevel(a: Analysis, form: Form, index: number): FnCode {
  const made = newCode(a.programId, form.span, {
    name: null,
    params: 0,
    rest: false,
    signature: '()',
  });
  const code: FnCode = { ...made, offset: -1 - index };
  const fn: FnScope = { code, outer: null, top: new Map(), short: false };
  finish(code, a.analyze(form, fnScope(fn, null), false));
  a.codes.set(code.offset, code);
  return code;
}
