/** An agent as plain data for those who look at it or start it: no functions, and no secrets. */
import type { JsonObject } from '../base/json.ts';
import type { Limit } from '../contract/limit.ts';
import type { Mode } from '../contract/model.ts';
import type { ToolSpec } from '../contract/spec.ts';

/** A tool of an agent. */
export interface AgentToolDescription extends Pick<ToolSpec, 'name' | 'effect' | 'approval'> {
  /** At most 2,000 characters. */
  readonly description: string;
  /** JSON Schema of its arguments; null: it takes none. Absent: the schema has more than 16 KB. */
  readonly schema?: JsonObject | null;
}

/** What an agent is, as its worker describes it. */
export interface AgentDescription {
  readonly name: string;
  /** Empty if it has none; at most 2,000 characters. */
  readonly description: string;
  readonly mode: Mode;
  /** Ids of its model and the fallbacks, in order; empty for a pipeline and a fan-out. */
  readonly models: readonly string[];
  /** Its inputs and output in one line; null: it takes a task and answers with text. */
  readonly signature: string | null;
  /** JSON Schema of its inputs; null: it has no signature, or the schema has more than 64 KB. */
  readonly parameters: JsonObject | null;
  /** Its own tools, the first 200. Those of its servers are not among them. */
  readonly tools: readonly AgentToolDescription[];
  /** How many tools are left out; absent: none. */
  readonly moreTools?: number;
  /** Names of the servers of the Model Context Protocol whose tools it has as well. */
  readonly servers: readonly string[];
  /** The limits of a run that is started without any, in the order in which they are checked. */
  readonly limits: readonly Limit[];
}

/** The agents of one worker. */
export interface WorkerAgents {
  /** Its identity, as the service lists it: `PID@HOST/node-22/everloop-0.1.0/BUILD/DIGEST`. */
  readonly worker: string;
  /** The task queue on which runs of its agents are started. */
  readonly taskQueue: string;
  /** By name. */
  readonly agents: readonly AgentDescription[];
  /** How many agents are left out, because the list would be too long. */
  readonly more: number;
}
