/**
 * Loads the agent of a fresh run: from this worker or, if it does not have the agent, from any other
 * one of the queue that has it, now or within the time that the first worker names.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  EverloopActivities,
  LoadedAgent,
  NoAgentDetails,
} from '../activities/activity-types.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { LOAD_OPTIONS, loadElsewhereOptions, onAnyWorker } from './attempts/activity-options.ts';
import { elsewhereMsOf } from './attempts/retry-elsewhere.ts';
import { createSpread } from './attempts/spread-pauses.ts';
import type { Session } from './session.ts';

/** A user canceled the run before any worker had its agent. */
export class CanceledEarly extends Error {
  override readonly name = 'CanceledEarly';
}

/**
 * The agent and what else the run begins with. Rejects with the failure of the last worker that was
 * asked, with CanceledEarly, or with a native cancellation.
 */
export async function loadAnywhere(session: Session, input: AgentInput): Promise<LoadedAgent> {
  const { loadAgent } = proxyLocalActivities<EverloopActivities>(LOAD_OPTIONS);
  try {
    return await loadAgent(input);
  } catch (error) {
    const lack = noAgentOf(error);
    // The failure tells the version of the worker, which is that of the workflow: those of older
    // workers have no details, so their runs end here when they are replayed. No patch is needed.
    const ms = lack === null ? 0 : waitOf(lack, input);
    if (lack === null || ms === 0) throw error;
    const { near, what = `agent ${session.agent}` } = lack;
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    session.opening = `worker with ${what}${hint}`;
    const loaded = await loadElsewhere(session, input, ms, error);
    const message = `waited for a worker with ${what}`;
    return { ...loaded, warnings: [...loaded.warnings, { code: 'elsewhere', message }] };
  }
}

async function loadElsewhere(
  { mailbox }: Session,
  input: AgentInput,
  ms: number,
  first: unknown,
): Promise<LoadedAgent> {
  const options = loadElsewhereOptions(ms, createSpread(workflowInfo().runId));
  const { loadAgent } = proxyActivities<EverloopActivities>(onAnyWorker(options));
  const scope = new CancellationScope({ cancellable: true });
  const isCanceled = (): boolean => mailbox.peek().cancel !== null;
  const isNative = (): boolean => CancellationScope.current().consideredCancelled;
  // A native cancel rejects this too, and reaches the scope by itself.
  void condition(isCanceled).then(
    () => scope.cancel(),
    () => undefined,
  );
  try {
    return await scope.run(() => loadAgent(input));
  } catch (error) {
    if (isCancellation(error)) throw isNative() ? error : new CanceledEarly();
    throw lastOf(error) ?? first;
  }
}

/** How long the run waits for a worker: no longer than it may take. */
function waitOf({ elsewhereMs }: NoAgentDetails, { limits }: AgentInput): number {
  const wallClockMs = typeof limits === 'object' ? limits.wallClockMs : undefined;
  const ms = elsewhereMsOf(elsewhereMs);
  return typeof wallClockMs === 'number' && wallClockMs > 0 ? Math.min(ms, wallClockMs) : ms;
}

const LACKS: readonly unknown[] = ['agent_not_found', 'extension_not_found', 'mcp_unavailable'];

function noAgentOf(error: unknown): NoAgentDetails | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure) || !LACKS.includes(cause.type)) return null;
  return (cause.details?.[0] ?? null) as NoAgentDetails | null;
}

/** What the last worker said, also if the time was over before another was asked. */
function lastOf(error: unknown): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof TimeoutFailure ? cause.cause : cause;
}
