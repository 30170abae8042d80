/** The agents of a server: those of an agent file, else those of recent runs. */
import { defined } from '../../core/base/defined.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { agentParameters, TASK_PARAMETERS } from '../../core/signature/agent-parameters.ts';
import type { Everloop } from '../../client/everloop-client.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';

/** An agent as callers see it. */
export interface ServedAgent {
  readonly name: string;
  readonly description?: string;
  /** Schema of its inputs; `{ task }` for an agent without a signature. */
  readonly parameters: JsonObject;
}

/** What calls of agents do to the world, as hosts are told. */
export const AGENT_EFFECTS = ['read', 'idempotent', 'once'] as const;

/** One of {@link AGENT_EFFECTS}. */
export type AgentEffect = (typeof AGENT_EFFECTS)[number];

/** The agents of an agent file. */
export function agentsOfFile(definitions: readonly AgentDefinition[]): readonly ServedAgent[] {
  return definitions.map(({ name, spec, inputs }) => ({
    name,
    parameters: agentParameters(spec.signature?.params, inputs),
    ...defined({ description: spec.description }),
  }));
}

/** Recent runs whose agents are listed, and how long the list is kept, in ms. */
const RECENT_RUNS = 200;
const KEPT_MS = 10_000;

/** A name that an agent can have; runs are data. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Lists the agents that callers may start: those of the file, or of recent runs, and those that
 * `allow` names. All others are left out.
 */
export function createAgentList(
  everloop: Pick<Everloop, 'list'>,
  file: readonly ServedAgent[] | undefined,
  allow: readonly string[] | undefined,
): () => Promise<readonly ServedAgent[]> {
  const allowed = (agents: readonly ServedAgent[]): readonly ServedAgent[] => {
    if (allow === undefined) return agents;
    return allow.map(
      (name) => agents.find((agent) => agent.name === name) ?? withoutSignature(name),
    );
  };
  if (file !== undefined) return () => Promise.resolve(allowed(file));
  let kept: { readonly agents: readonly ServedAgent[]; readonly until: number } | undefined;
  return async () => {
    if (kept !== undefined && performance.now() < kept.until) return kept.agents;
    const runs = await everloop.list({ limit: RECENT_RUNS });
    const names = [...new Set(runs.map(({ agent }) => agent))].filter((name) => NAME.test(name));
    const agents = allowed(names.toSorted().map(withoutSignature));
    kept = { agents, until: performance.now() + KEPT_MS };
    return agents;
  };
}

function withoutSignature(name: string): ServedAgent {
  return { name, parameters: TASK_PARAMETERS };
}
