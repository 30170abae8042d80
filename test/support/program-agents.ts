/** An agent for programs; the same in the test's process and in one that is killed. */
import { z } from 'zod';
import { defineAgent } from '../../src/activities/define-agent.ts';
import { defineTool } from '../../src/activities/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/activities/definitions.ts';
import { searchTool } from './runs.ts';

/** `programmer` searches, pays with a person's approval, and asks. */
export function programAgent(onPay: (amount: number) => void = () => undefined): AgentDefinition {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    effect: 'once',
    approval: 'always',
    execute: ({ amount }) => {
      onPay(amount);
      return `paid ${amount}`;
    },
  }) as ToolDefinition;
  return defineAgent({
    name: 'programmer',
    model: { id: 'm', model: async () => 'nothing is asked of it' },
    tools: [searchTool(), pay],
    askUser: true,
    limits: 'unlimited',
  });
}
