import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';

/** `spinner`, which computes for minutes after its first reply, and `greeter`, which does not. */
export const spinnerAgents: readonly AgentDefinition[] = ['spinner', 'greeter'].map((name) =>
  defineAgent({ name, mode: 'text', model: () => Promise.resolve('done') }),
);
