import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { AgentModel } from '../../src/define/model/model-entry.ts';
import { scenarioAgent } from '../scenario.ts';
import type { ScriptVariant } from '../script.ts';
import { shopActionTools } from './action-tools.ts';
import { shopLookupTools, type ShopToolOptions } from './lookup-tools.ts';

const instructions =
  'You are the support assistant of the shop TechGear. Today is Tuesday, 2026-03-10, 09:00 UTC. ' +
  'Our payment records can be out of date, check the gateway. Follow the steps of the policy in ' +
  'order.';

/** Options of {@link shopAgent}. */
export interface ShopAgentOptions extends ShopToolOptions {
  readonly model: AgentModel;
  /** Default `yaml`. */
  readonly variant?: ScriptVariant;
  /** Default `shop`. */
  readonly name?: string;
}

/** The support assistant of the shop, with all nine tools on one store. */
export function shopAgent(options: ShopAgentOptions): AgentDefinition {
  const { model, variant = 'yaml', name = 'shop' } = options;
  return scenarioAgent({
    name,
    description: 'Helps customers of the shop TechGear with their orders and payments.',
    model,
    instructions,
    tools: [...shopLookupTools(options), ...shopActionTools(options)],
    variant,
    iterations: 20,
    pin: 'search_guidance_policy',
  });
}
