/** Whether this worker can compile an agent's program, or run a compiled one. */
import type { AgentInput } from '../core/contract/input.ts';
import { compiledCodeId, isCompiled } from '../core/program-text/compiled.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';

/** Why it cannot, in one sentence; undefined when it can. */
export function compiledProblem(
  { definition, tools }: RegisteredAgent,
  { compiled, compiles }: Pick<AgentInput, 'compiled' | 'compiles'>,
): string | undefined {
  const given: unknown = compiled;
  if (given === undefined && compiles !== true) return undefined;
  const { name, spec } = definition;
  if (spec.mode !== 'lisp') return `only mode \`lisp\` compiles, \`${name}\` is \`${spec.mode}\`.`;
  if (given === undefined) return undefined;
  if (!isCompiled(given)) {
    return 'Expected `compiled` to be what `compileAgent` returns, got something else. Compile it again.';
  }
  const id = compiledCodeId(given);
  if (id !== given.codeId) {
    return `Expected the program of compiled \`${name}\` to be ${given.codeId}, got ${id}: it was changed. Compile it again.`;
  }
  const known = [...tools.keys()].map((tool) => tool.replaceAll('-', '_'));
  const missing = given.tools.find((tool) => !known.includes(tool.replaceAll('-', '_')));
  return missing === undefined
    ? undefined
    : `compiled \`${name}\` needs tool \`${missing}\`, which the worker does not have.`;
}
