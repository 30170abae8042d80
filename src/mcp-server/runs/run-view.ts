/** A run as tools show it: where it stands, what waits, and how it ended; of bounded size. */
import { defined } from '../../core/base/defined.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { isUsageError } from '../../core/base/usage-error.ts';
import { clip } from '../../core/text/cut.ts';
import type { PendingItem, RunPhase, RunStatus } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { bounded, boundedList, MAX_VALUE_BYTES } from './bounds.ts';

/** Where a run stands. */
export type SeenRun =
  | { readonly kind: 'live'; readonly status: RunStatus; readonly pending: readonly PendingItem[] }
  | { readonly kind: 'ended'; readonly step: Step }
  /** It ended without a Step, by termination for example. */
  | { readonly kind: 'lost'; readonly message: string };

/**
 * Reads a run. Only a live one needs a worker.
 *
 * @throws UsageError as the methods of the handle.
 */
export async function readView(run: RunHandle): Promise<SeenRun> {
  try {
    const step = await run.step();
    if (step !== null) return { kind: 'ended', step };
    // One read: of two, one may see the run before it waits, and the other after.
    const { status, pending } = await run.view();
    // It ended between two calls.
    if (status.step !== undefined) return { kind: 'ended', step: status.step };
    return { kind: 'live', status, pending };
  } catch (error) {
    if (isUsageError(error) && error.code === 'no_step') {
      return { kind: 'lost', message: error.message };
    }
    throw error;
  }
}

/** The items that a person can end; outside work is ended by what does it. */
export function forPeople(pending: readonly PendingItem[]): readonly PendingItem[] {
  return pending.filter(({ kind }) => kind !== 'external');
}

/** Items and inputs that one result lists at most. */
const MAX_PENDING = 50;
const MAX_WAITS_FOR = 20;

/** Characters of a name or a sentence. */
const MAX_TEXT = 2_000;

/** The result of the tools about run `id`. */
export function viewValue(id: string, view: SeenRun): JsonObject {
  switch (view.kind) {
    case 'lost':
      return { run: id, status: 'ended', message: view.message, pending: [] };
    case 'ended':
      return {
        run: id,
        agent: view.step.agent,
        status: 'ended' satisfies RunPhase,
        iteration: view.step.iterations,
        usage: view.step.usage as unknown as Json,
        pending: [],
        step: stepValue(view.step),
      };
    case 'live': {
      const { agent, state, iteration, waitsFor, usage, unreadInputs, approvals } = view.status;
      const { items, leftOut } = boundedList(
        view.pending.map((item) => item as unknown as Json),
        MAX_PENDING,
      );
      return {
        run: id,
        agent,
        status: state,
        iteration,
        waitsFor: waitsFor.slice(0, MAX_WAITS_FOR).map((text) => clip(text, MAX_TEXT)),
        usage: usage as unknown as Json,
        unreadInputs,
        pending: items,
        ...defined({
          pendingLeftOut: leftOut,
          approvals: approvals && bounded(approvals as unknown as Json, MAX_VALUE_BYTES / 8),
        }),
      };
    }
  }
}

/** What a caller needs of a Step. */
function stepValue(step: Step): JsonObject {
  const { status, value, reason, message, details, exceededLimit, unknownCalls } = step;
  return {
    status,
    value: bounded(value, MAX_VALUE_BYTES),
    reason,
    ...defined({
      message: message === undefined ? undefined : clip(message, MAX_TEXT),
      details: details === undefined ? undefined : bounded(details, MAX_VALUE_BYTES / 8),
      exceededLimit: exceededLimit as unknown as Json | undefined,
      unknownCalls: unknownCalls as unknown as Json | undefined,
    }),
  };
}
