/** The tools of agents whose definitions the console knows. */
import { signal, type Signal } from '@preact/signals';
import type { AgentCard, AgentsAnswer, ToolCard } from '../../api.ts';
import { get } from './api.ts';

/** Null: not asked yet. */
const agents: Signal<readonly AgentCard[] | null> = signal(null);

/** `tool` of `agent`; undefined: not known, or not yet. */
export function toolOf(agent: string, tool: string): ToolCard | undefined {
  if (agents.peek() === null) void load();
  const tools = agents.value?.find(({ name }) => name === agent)?.tools;
  return tools?.find(({ name }) => name === tool);
}

async function load(): Promise<void> {
  agents.value = [];
  try {
    agents.value = (await get<AgentsAnswer>('/agents')).agents;
  } catch {
    // The calls stand without what their tools are.
  }
}
