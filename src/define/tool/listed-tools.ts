/** The tools of an agent as a list: by name, as the AI SDK writes them, they are made ones of ours. */
import { isPlainObject } from '../../core/base/json.ts';
import { isUsageError, type UsageProblem } from '../../core/base/usage-error.ts';
import type { ToolDefinition } from '../definition/definitions.ts';
import type { McpServerDefinition } from '../definition/mcp-server.ts';
import { fromAiTool } from './from-ai-tool.ts';
import { isAiTool, isProviderTool, type AiTool } from './hosted-tool.ts';

/** What an agent may have among its tools. */
export type AgentTool = ToolDefinition | McpServerDefinition | AiTool;

/** The list, and what is wrong with tools that are left out of it. */
export interface ListedTools {
  readonly tools: readonly AgentTool[] | undefined;
  readonly problems: readonly UsageProblem[];
}

/**
 * The tools of `given`. One of the AI SDK does not say what a repeated call does, and its users expect
 * that nothing repeats it, so its calls begin once.
 */
export function listedTools(given: unknown): ListedTools {
  // A single tool is no mapping of tools.
  if (!isPlainObject(given) || 'kind' in given || isAiTool(given))
    return { tools: given as ListedTools['tools'], problems: [] };
  const tools: AgentTool[] = [];
  const problems: UsageProblem[] = [];
  for (const [name, tool] of Object.entries(given)) {
    if (!isAiTool(tool) || isProviderTool(tool)) {
      tools.push(tool as AgentTool);
      continue;
    }
    try {
      tools.push(fromAiTool(name, tool, { effect: 'once' }));
    } catch (error) {
      if (!isUsageError(error)) throw error;
      problems.push(...error.problems);
    }
  }
  return { tools, problems };
}
