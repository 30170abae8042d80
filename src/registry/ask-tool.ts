import { ASK_TOOL } from '../core/toolchain/ask-user.ts';
import { ToolError } from '../core/base/tool-error.ts';
import type { AgentDefinition, ToolDefinition } from '../define/definition/definitions.ts';

/**
 * The built-in tool `ask_user` of an agent, or undefined when it has none. The worker checks
 * arguments by its schema; the loop itself asks and waits.
 */
export function askTool({ spec }: AgentDefinition): ToolDefinition | undefined {
  const ask = spec.tools.find(({ name }) => name === ASK_TOOL);
  if (ask === undefined) return undefined;
  return {
    kind: 'tool',
    spec: ask,
    standard: null,
    execute: () => {
      throw new ToolError('questions are asked by the loop, no activity runs them');
    },
  };
}
