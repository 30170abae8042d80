import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';

const texts = ['spinner', 'greeter', 'loop'].map((name) =>
  defineAgent({ name, mode: 'text', model: () => Promise.resolve('done') }),
);

const programs = ['reply', 'check', 'program'].map((name) =>
  defineAgent({
    name,
    mode: 'lisp',
    model: () => Promise.resolve('```clojure\n(return (+ 40 2))\n```'),
  }),
);

/**
 * For `test-loops.ts`: `spinner` computes for minutes after its first reply, and `greeter` does not. Of
 * `loop`, `reply`, `check` and `program` that kind of work is endless.
 */
export const spinnerAgents: readonly AgentDefinition[] = [...texts, ...programs];
