/**
 * Tells runs to say in lists for what they wait now. A run cannot say it by itself whenever an item
 * comes or goes: see I3 of `workflows/visibility.ts`.
 *
 * I1  A run gets one signal for all changes within {@link SETTLE_MS}.
 * I2  A lost signal is sent again after the next change.
 */
import type { Client } from '@temporalio/client';
import { MESSAGE_NAMES } from '../../core/contract/messages.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';

/** Items of a turn come within this time, in milliseconds; lists lag behind by more. */
const SETTLE_MS = 300;

/** Runs that are told at once; one that is left out is told after its next change. */
const MAX_RUNS = 10_000;

/** A run, or rather one link of it. */
export interface ToldRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** Sends `list-waits`. */
export interface WaitSignals {
  readonly tell: (run: ToldRun) => void;
  readonly stop: () => void;
}

/** Signals through `client`; `onError` gets what fails, other than that a run has ended. */
export function signalWaits(client: Client, onError: (error: unknown) => void): WaitSignals {
  const due = new Map<string, NodeJS.Timeout>();
  const signal = async ({ workflowId, runId }: ToldRun): Promise<void> => {
    due.delete(runId);
    try {
      await client.workflow.getHandle(workflowId, runId).signal(MESSAGE_NAMES.listWaits);
    } catch (error) {
      if (!isNotFound(error)) onError(error);
    }
  };
  return {
    tell: (run) => {
      if (due.has(run.runId) || due.size >= MAX_RUNS) return;
      due.set(run.runId, setTimeout(() => void signal(run), SETTLE_MS).unref());
    },
    stop: () => {
      for (const timer of due.values()) clearTimeout(timer);
      due.clear();
    },
  };
}
