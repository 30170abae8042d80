import type { AgentInput } from '../core/contract/input.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { loadAgent, type PreparedAgent } from '../registry/load-agent.ts';
import { invalidInput } from './tool-failures.ts';

/**
 * The activity `loadAgent`, to be run as a local one. Fails for good, with the type
 * `agent_not_found` or `invalid_input`, when the run cannot begin.
 */
export function loadAgentActivity(
  registry: Registry,
): (input: AgentInput) => Promise<PreparedAgent> {
  return async (input) => {
    const outcome = loadAgent(registry, input);
    if (outcome.kind === 'failed') throw invalidInput(outcome.code, outcome.message);
    return outcome.agent;
  };
}
