/** Whether a run gets a limit on cost by default: only if all that it may spend has a price. */
import { defined } from '../core/base/defined.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { ModelSpec } from '../core/contract/spec.ts';
import type { Registry } from '../define/definition/definitions.ts';
import { childStarts } from './agent-family.ts';
import { unpricedTools, usedModels } from './compile-agent.ts';

type Start = Pick<AgentInput, 'agent' | 'model' | 'compiled' | 'parent'>;

/**
 * Whether a start gets the default limit on cost: it begins a root, and every model that the agent
 * and the agents below it name has a price. Agents that a loop of the user's own starts are not
 * known.
 */
export function hasDefaultCostLimit(registry: Registry, start: Start): boolean {
  if (start.parent !== undefined) return false;
  const models = familyModels(registry, start);
  return models.length > 0 && models.every((model) => model?.price !== undefined);
}

/** The models of an agent and of all agents that it may start; undefined for one that is unknown. */
function familyModels(
  { agents, models }: Registry,
  { agent, model }: Start,
): readonly (ModelSpec | undefined)[] {
  const starts: Pick<Start, 'agent' | 'model'>[] = [{ agent, ...defined({ model }) }];
  const seen = new Set<string>();
  const used: (ModelSpec | undefined)[] = [];
  // The loop also visits what it pushes.
  for (const start of starts) {
    const name = JSON.stringify([start.agent, start.model]);
    const definition = agents.get(start.agent)?.definition;
    if (seen.has(name)) continue;
    seen.add(name);
    if (definition === undefined) {
      used.push(undefined);
      continue;
    }
    used.push(...usedModels(definition, models, start.model));
    // Fees that are not known have no price either.
    if (unpricedTools(definition, models, start.model).length > 0) used.push(undefined);
    // An agent without a model hands that of its start on.
    const handed = definition.model === null ? start.model : undefined;
    for (const child of childStarts(definition)) {
      starts.push({ ...defined({ model: handed }), ...child });
    }
  }
  return used;
}
