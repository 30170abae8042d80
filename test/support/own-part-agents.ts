import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { ownSection } from '../../src/define/agent/reply-layout.ts';
import { searchTool } from './runs.ts';

const speak: ModelFunction = async ({ iteration, messages }) => {
  if (!JSON.stringify(messages).includes('Write each call on a line')) return 'no description';
  return iteration === 1 ? '[table]\na,b\n[action]\nsearch {"query": "x"}' : '[answer]\nyes';
};

/** Turns of `wanderer` with a search, before its answer. */
export const WANDERINGS = 5;

const wander: ModelFunction = async ({ iteration }) =>
  iteration <= WANDERINGS
    ? `[table]\nstep,${iteration}\n[action]\nsearch {"query": "x${iteration}"}`
    : '[answer]\nyes';

const PARTS = {
  format: 'own:brackets',
  toolchain: 'own:lines',
  sections: [ownSection('own:csv', { name: 'table' })],
  answer: 'own:verdict',
} as const;

/**
 * Agents with own parts of replies: `speaker` searches once and answers yes, `wanderer` searches more
 * often; `spinner` and `gatherer` first write a reply that is read for ever.
 */
export const ownPartAgents: readonly AgentDefinition[] = [
  defineAgent({
    name: 'speaker',
    mode: 'react',
    model: { id: 'm', model: speak },
    ...PARTS,
    tools: [searchTool()],
  }),
  defineAgent({
    name: 'wanderer',
    mode: 'react',
    model: wander,
    ...PARTS,
    tools: [searchTool()],
  }),
  defineAgent({
    name: 'spinner',
    mode: 'react',
    model: ({ iteration }) => Promise.resolve(iteration === 1 ? 'spin' : '[answer]\ndone'),
    format: 'own:spinning',
  }),
  defineAgent({
    name: 'gatherer',
    mode: 'chat',
    model: ({ iteration }) => Promise.resolve(iteration === 1 ? 'spin' : 'search {"query": "x"}'),
    tools: [searchTool()],
  }),
];
