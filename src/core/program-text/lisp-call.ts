/** The native tool call that runs a program. */
import { memberOf, jsonType } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { programIn } from './find-program.ts';
import { LISP_TOOL } from './system-text.ts';

/** The program of a call, or why it has none. */
export type LispCall =
  | { readonly kind: 'program'; readonly source: string }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** Reads a call of {@link LISP_TOOL}; a fence around the program is removed. */
export function readLispCall({ args }: Pick<ToolCall, 'args'>): LispCall {
  const text = memberOf(args, 'program');
  if (typeof text !== 'string') {
    const got = text === undefined ? 'missing' : `expected string, got ${jsonType(text)}`;
    return problem('schema', `the arguments do not fit ${LISP_TOOL}.\n- program: ${got}`);
  }
  const found = programIn(text);
  switch (found.kind) {
    case 'program':
      return { kind: 'program', source: found.source };
    case 'none':
      return problem('no_code_found', 'the program is empty.');
    case 'several':
      return problem('several_programs', `found ${found.count} programs. Write one.`);
  }
}

function problem(code: string, message: string): LispCall {
  return { kind: 'problem', problem: { code, message } };
}
