/** An agent for programs; the same in the test's process and in one that is killed. */
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { abortOf, payTool, searchTool } from './runs.ts';

/** What the tools of the agent tell the test. */
export interface ProgramHooks {
  readonly onPay?: (amount: number) => void;
  /** The ids of calls of `hang` that were ended. */
  readonly onStopped?: (callId: string) => void;
}

/** `programmer` searches, pays with a person's approval, hangs, and asks. */
export function programAgent({ onPay, onStopped }: ProgramHooks = {}): AgentDefinition {
  const hang = defineTool({
    name: 'hang',
    description: 'Never ends by itself.',
    execute: async (_args, { callId, signal }) => {
      await abortOf(signal);
      onStopped?.(callId);
      throw new Error('stopped');
    },
  }) as ToolDefinition;
  const look = defineTool({
    name: 'look',
    description: 'Looks something up quickly.',
    parameters: z.object({ at: z.string() }),
    effect: 'read',
    local: true,
    execute: ({ at }) => ({ at }),
  }) as ToolDefinition;
  return defineAgent({
    name: 'programmer',
    mode: 'react',
    model: { id: 'm', model: async () => 'nothing is asked of it' },
    tools: [searchTool(), payTool(onPay), hang, look],
    askUser: true,
    limits: 'unlimited',
  });
}
