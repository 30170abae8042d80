import type { AgentInput } from '../core/contract/input.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { loadAgent, type PreparedAgent } from '../registry/load-agent.ts';
import { invalidInput } from './tool-failures.ts';

/**
 * The activity `loadAgent`, for use as a local activity. When the run cannot begin, it fails with
 * the type `agent_not_found` or `invalid_input` and is not retried.
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
