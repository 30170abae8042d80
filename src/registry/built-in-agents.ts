/** Agents that every worker has without being told: they start others and have no code of their own. */
import { EVAL_AGENT } from '../core/evaluation/eval-plan.ts';
import { agentWithoutModel } from '../define/pipeline/agent-without-model.ts';
import type { RegisteredAgent, Registry } from '../define/definition/definitions.ts';

/** As many tries of an eval run at once as runs of a batch of a fan-out. */
const BATCH = 30;

const EVAL: RegisteredAgent = {
  definition: agentWithoutModel({
    name: EVAL_AGENT,
    loop: { evaluation: { batch: BATCH } },
    starts: [],
    description:
      'Continues moments of runs, or runs tasks, with several variants, and compares them.',
    limits: { children: 5_000, iterations: 1_000 },
  }),
  tools: new Map(),
  validators: new Map(),
  prices: new Map(),
};

/** `registry` with the built-in agent `name`, if there is one and the worker has none of the name. */
export function withBuiltIn(registry: Registry, name: unknown): Registry {
  if (name !== EVAL_AGENT || registry.agents.has(EVAL_AGENT)) return registry;
  return { ...registry, agents: new Map([...registry.agents, [EVAL_AGENT, EVAL]]) };
}
