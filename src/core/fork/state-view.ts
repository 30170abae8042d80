/** A moment of a run as people and programs look at it. */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Task } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { CallAfter } from '../base/fork.ts';
import type { Limit } from '../contract/limit.ts';
import type { Mode } from '../contract/model.ts';
import type { Stats } from '../contract/stats.ts';
import type { StepMemory } from '../contract/step.ts';
import { headDigest, type RunState } from '../run/run-state.ts';

/** A moment of a run: nothing is in flight then, and nothing waits. */
export interface StateView {
  readonly run: string;
  /** The service's run id of the link with the moment. */
  readonly executionId: string;
  /** The iteration that began there. */
  readonly iteration: number;
  /** The number of the last event before it. */
  readonly event: number;
  readonly link: number;
  /** The agent with its mode and model, and a digest of its specification, task and context. */
  readonly agent: {
    readonly name: string;
    readonly mode: Mode;
    readonly model?: string;
    readonly digest: string;
  };
  readonly task: Task;
  readonly context?: JsonObject;
  /** The conversation that the next request would show; edits name entries by `index`. */
  readonly entries: readonly Entry[];
  readonly stats: Stats;
  readonly limits: readonly Limit[];
  /** What programs have defined; `{}` if there are none. */
  readonly memory: StepMemory;
  /** The data of a pipeline, a fan-out or a loop of your own; null if there is none. */
  readonly data: Json;
  /**
   * The calls that the run made from here on, oldest first, at most 1,000. None if the state comes from
   * the archive because the service has forgotten the history.
   */
  readonly callsAfter: readonly CallAfter[];
}

const MAX_CALLS = 1_000;

/** The view of `state`. */
export function stateView(
  state: RunState,
  place: { readonly run: string; readonly executionId: string },
  callsAfter: readonly CallAfter[],
): StateView {
  const { head, iteration, seq, link, scratchpad, stats, limits, program, data } = state;
  const { spec, task, context } = head;
  return {
    ...place,
    iteration: iteration + 1,
    event: seq,
    link,
    agent: {
      name: spec.name,
      mode: spec.mode,
      ...defined({ model: spec.models[0]?.id }),
      digest: headDigest(head),
    },
    task,
    ...defined({ context }),
    entries: scratchpad,
    stats,
    limits,
    memory: program?.memory ?? {},
    data,
    callsAfter: callsAfter.slice(0, MAX_CALLS),
  };
}
