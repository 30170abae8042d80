/** An agent that starts many instant agents at once, and answers when all have ended. */
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { jsonToolchain } from '../../src/define/agent/reply-layout.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';

/** A parent that starts `children` runs of `child`, each with the given number of iterations. */
export function instantParent(
  name: string,
  child: AgentDefinition,
  { children, iterations }: { readonly children: number; readonly iterations: number },
): AgentDefinition {
  const call = { tool: child.name, args: { task: String(iterations) } };
  const calls = JSON.stringify(Array.from({ length: children }, () => call));
  return defineAgent({
    name,
    mode: 'react',
    tools: [agentTool({ agent: child })],
    toolchain: jsonToolchain(),
    maxCallsPerTurn: children,
    model: {
      id: `${name}/model`,
      model: async ({ iteration }) => ({
        content: iteration === 1 ? `<action>${calls}</action>` : '<answer>done</answer>',
        usage: { inputTokens: 100, outputTokens: 10 },
      }),
    },
  });
}
