import type { AgentDefinition, AgentModel } from '../../src/activities/definitions.ts';
import { defineAgent } from '../../src/activities/define-agent.ts';
import { SCENARIO_RULES } from '../rules.ts';
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
  /** Default `airline`. */
  readonly name?: string;
}

/** The assistant of the airline, with all nine tools on one store. */
export function airlineAgent(options: AirlineAgentOptions): AgentDefinition {
  const { model, variant = 'yaml', name = 'airline' } = options;
  return defineAgent({
    name,
    description: 'Helps customers of the airline SkyWings with their bookings.',
    mode: variant === 'chat' ? 'chat' : 'react',
    model,
    instructions,
    rules: SCENARIO_RULES,
    tools: [...airlineLookupTools(options), ...airlineActionTools(options)],
    // Searching takes turns of its own.
    limits: { iterations: variant === 'search' ? 20 : 15 },
    ...(variant === 'search' ? { toolSearch: { pins: ['search_airline_policy'] } } : {}),
    ...(variant === 'json' ? { toolchain: 'json' } : {}),
  });
}
