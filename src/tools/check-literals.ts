import { isJsonObject, type Json } from '../core/base/json.ts';
import { unfitArgumentsText } from '../core/toolchain/call-texts.ts';
import { programSchema } from '../core/programs/world.ts';
import type {
  LiteralFindings,
  LiteralsOrder,
  LiteralVerdict,
  ProgramLiteral,
} from '../core/contract/outcome.ts';
import type { RegisteredAgent } from '../define/definition/definitions.ts';
import { expectations } from '../core/section/problem-lines.ts';
import { fitValue, propertyViolations } from './fit-value.ts';

/**
 * Checks the arguments of calls that no tool activity runs, each against the schema of its tool.
 * Problems read as for a tool call. Calls of a tool that this worker does not have are not checked.
 */
export function checkLiterals(
  agent: RegisteredAgent,
  { calls }: LiteralsOrder,
): Promise<readonly LiteralVerdict[]> {
  return Promise.all(
    calls.map(async ({ tool: name, args }): Promise<LiteralVerdict> => {
      const tool = agent.tools.get(name);
      const parameters = tool?.spec.parameters ?? null;
      if (tool === undefined || parameters === null) return { kind: 'fits', args };
      const fit = await fitValue({ json: parameters, standard: tool.standard }, args);
      if (fit.kind === 'unfit') {
        return { kind: 'unfit', text: unfitArgumentsText(tool.spec, fit.lines) };
      }
      const value = fit.value as Json;
      return { kind: 'fits', args: isJsonObject(value) ? value : args };
    }),
  );
}

/**
 * Checks the literals of a program, each against the schema of its argument. Rules over several
 * arguments are left to the call itself.
 */
export function checkProgramLiterals(
  agent: RegisteredAgent,
  literals: readonly ProgramLiteral[] = [],
): readonly LiteralFindings[] {
  return literals.map(({ tool: name, path, value }): LiteralFindings => {
    const tool = agent.tools.get(name);
    const schema = tool === undefined ? {} : programSchema(tool.spec);
    const [argument, ...below] = path;
    if (typeof argument !== 'string' || below.length > 0) return { kind: 'literal', findings: [] };
    const found = expectations(propertyViolations(schema, argument, value));
    const findings = found.map(({ path: at, message }) => ({ path: at.slice(1), message }));
    return { kind: 'literal', findings };
  });
}
