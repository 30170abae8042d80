/** The effect classes of tools, of agents whose definitions the console knows. */
import { signal, type Signal } from '@preact/signals';
import type { AgentCard, AgentsAnswer } from '../../api.ts';
import { get } from '../base/api.ts';

/** Null: not asked yet. */
const agents: Signal<readonly AgentCard[] | null> = signal(null);

/** The effect of `tool` of `agent`; undefined: not known, or not yet. */
export function effectOf(agent: string, tool: string): string | undefined {
  if (agents.peek() === null) void load();
  const tools = agents.value?.find(({ name }) => name === agent)?.tools;
  return tools?.find(({ name }) => name === tool)?.effect;
}

async function load(): Promise<void> {
  agents.value = [];
  try {
    agents.value = (await get<AgentsAnswer>('/agents')).agents;
  } catch {
    // The calls stand without their effects.
  }
}
