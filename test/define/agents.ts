/** Agents and orders for tests of activities. */
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { RegisteredAgent, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import type { JudgeOrder, ToolOrder } from '../../src/core/contract/outcome.ts';
import { createRegistry } from '../../src/registry/registry.ts';

/** A model that nobody asks. */
export const silentModel: ModelFunction = () => Promise.reject(new Error('nobody should ask'));

/** An agent `tester` with these options, as activities find it. */
export function testerWith(options: Partial<AgentOptions>): RegisteredAgent {
  const agent = defineAgent({ name: 'tester', mode: 'react', model: silentModel, ...options });
  const registered = createRegistry({ agents: [agent] }).agents.get('tester');
  if (registered === undefined) throw new Error('Expected the agent to be registered.');
  return registered;
}

/** An agent `tester` with these tools. */
export function agentWith(...tools: readonly ToolDefinition[]): RegisteredAgent {
  return testerWith({ tools });
}

/** Call 1.1 of run `run-1`. */
export function toolOrder(tool: string, args: JsonObject = {}): ToolOrder {
  return { agent: 'tester', runId: 'run-1', agentPath: 'tester', callId: '1.1', tool, args };
}

/** The judging of iteration 1 of run `run-1`. */
export function judgeOrder(fields: Partial<JudgeOrder>): JudgeOrder {
  return {
    agent: 'tester',
    runId: 'run-1',
    agentPath: 'tester',
    iteration: 1,
    validators: [],
    answers: [],
    sections: [],
    ...fields,
  };
}

/** A signal that is never aborted. */
export function quietSignal(): AbortSignal {
  return new AbortController().signal;
}
