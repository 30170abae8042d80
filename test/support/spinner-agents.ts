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
 * `spinner` computes for minutes after its first reply, and `greeter` does not. `loop`, `reply`, `check`
 * and `program` are for `spinning-work.ts`, which makes that kind of work endless.
 */
export const spinnerAgents: readonly AgentDefinition[] = [...texts, ...programs];
