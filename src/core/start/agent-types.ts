/** What the compiler knows of an agent: the value of its runs, and the context that they take. */
import type { Json, JsonObject } from '../base/json.ts';
import type { Step } from '../contract/step.ts';

/** An agent definition as clients see it: a name, and types that exist for the compiler only. */
export interface TypedAgent<Value = unknown, Context = unknown> {
  readonly kind: 'agent';
  readonly name: string;
  /** Never set. */
  readonly types?: { readonly value: Value; readonly context: Context };
}

/** The type of the value of an agent's runs; `Json` when the definition does not say it. */
export type ValueOf<Agent> =
  Agent extends TypedAgent<infer Value> ? (unknown extends Value ? Json : Value) : Json;

/** The type of the context of an agent's runs; `JsonObject` when the definition does not say it. */
export type ContextOf<Agent> =
  Agent extends TypedAgent<unknown, infer Context>
    ? unknown extends Context
      ? JsonObject
      : Context
    : JsonObject;

/** The option `context`: required when the agent has inputs that nothing else gives. */
export type ContextOption<Context> = {} extends Context
  ? { readonly context?: Context | Step<unknown> }
  : { readonly context: Context | Step<unknown> };

/** The name of an agent, which may be given by its definition. */
export function agentNameOf(agent: TypedAgent | string): string {
  const { name } = Object(agent) as Partial<TypedAgent>;
  return typeof agent === 'string' || name === undefined ? (agent as string) : name;
}
