/** An agent whose priced model is behind HTTP, for tests that kill its worker. */
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { modelAt } from './aimock.ts';

/** Agent `reader`, which asks the provider at `url`. */
export function pricedAgents(url: string): readonly AgentDefinition[] {
  const model = {
    id: 'priced',
    model: modelAt(url, 'openai-compatible'),
    price: { input: 1, output: 1 },
  };
  return [defineAgent({ name: 'reader', mode: 'text', model })];
}
