/** What functions on a worker may know of the run that they work for, from the order of their call. */
import { defined } from '../base/defined.ts';
import type { JsonObject } from '../base/json.ts';
import type { ModelOrder } from '../contract/host-order.ts';
import type { JudgeOrder, ToolOrder } from '../contract/outcome.ts';

/** What a function of an agent gets besides its own input. */
export interface RunInfo {
  /** The id of the run, by which a client reaches it: `everloop.attach(run)`. */
  readonly run: string;
  /** The service's id of the first execution of the run: the same in all links, as in events. */
  readonly runId: string;
  readonly agent: string;
  readonly agentPath: string;
  /** Number of the iteration, from 1; 0 before the first. */
  readonly iteration: number;
  /** Whose run it is. Absent: nobody's in particular. */
  readonly tenant?: string;
  /** The id of the conversation that the run, or the root above it, is a turn of. Absent: none. */
  readonly conversation?: string;
  /** Who started the run or spoke to it last, as the sender stated. Absent: nobody was named. */
  readonly by?: string;
  /**
   * The context of the run, hidden values included; absent if the run has none. Of a tool, its approval,
   * its middleware and a validator: only with `readsContext`.
   */
  readonly context?: JsonObject;
}

/** What the host knows besides the order. */
export interface RunPlace {
  /** The id of the run. */
  readonly run: string;
  readonly context?: JsonObject | undefined;
}

/** The info of an order. */
export function infoOf(
  order: ModelOrder | JudgeOrder | ToolOrder,
  { run, context }: RunPlace,
): RunInfo {
  const { agent, runId, agentPath, tenant, conversation, by } = order;
  // The id of a call begins with its iteration.
  const iteration = 'iteration' in order ? order.iteration : Number.parseInt(order.callId, 10);
  return {
    run,
    runId,
    agent,
    agentPath,
    iteration: Number.isNaN(iteration) ? 0 : iteration,
    ...defined({ tenant, conversation, by, context }),
  };
}
