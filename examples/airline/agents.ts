import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { AgentModel } from '../../src/define/model/model-entry.ts';
import { scenarioAgent } from '../scenario.ts';
import type { ScriptVariant } from '../script.ts';
import { airlineActionTools } from './action-tools.ts';
import { airlineLookupTools, type AirlineToolOptions } from './lookup-tools.ts';

const instructions =
  'You are the travel assistant of the airline SkyWings. Today is Tuesday, 2026-03-10, 09:00 UTC. ' +
  'Help the customer with bookings: find out what is possible and what it costs before you ' +
  'change anything.';

/** Options of {@link airlineAgent}. */
export interface AirlineAgentOptions extends AirlineToolOptions {
  readonly model: AgentModel;
  /** Default `yaml`. */
  readonly variant?: ScriptVariant;
  /** Whether the agent may ask the customer. Default false. */
  readonly askUser?: boolean;
  /** Default `airline`. */
  readonly name?: string;
}

/** The assistant of the airline, with all nine tools on one store. */
export function airlineAgent(options: AirlineAgentOptions): AgentDefinition {
  const { model, variant = 'yaml', name = 'airline', askUser = false } = options;
  return scenarioAgent({
    name,
    description: 'Helps customers of the airline SkyWings with their bookings.',
    model,
    instructions,
    tools: [...airlineLookupTools(options), ...airlineActionTools(options)],
    askUser,
    variant,
    iterations: 15,
    pin: 'search_airline_policy',
  });
}
