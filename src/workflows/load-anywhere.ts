/**
 * What a run, or a turn of a conversation, waits for before it begins: its agent, from this worker or,
 * if it does not have the agent, from any other one of the queue that has it, now or within the time
 * that the first worker names; the state of a fork; the turn among the runs of its tenant.
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
  type ActivityOptions,
} from '@temporalio/workflow';
import type {
  EverloopActivities,
  LoadedAgent,
  LoadedFork,
  NoAgentDetails,
} from '../activities/activity-types.ts';
import { defined } from '../core/base/defined.ts';
import type { AgentInput } from '../core/contract/input.ts';
import type { Opening } from '../core/loop/loop.ts';
import { createRunLog } from '../core/run/run-log.ts';
import type { RunState } from '../core/run/run-state.ts';
import type { TenantTurn } from '../core/tenant/tenant-messages.ts';
import {
  FORK_OPTIONS,
  LOAD_OPTIONS,
  loadElsewhereOptions,
  onAnyWorker,
} from './attempts/activity-options.ts';
import { elsewhereMsOf } from './attempts/retry-elsewhere.ts';
import { createSpread } from './attempts/spread-pauses.ts';
import { CanceledEarly } from './failures.ts';
import { DEFINITION, type Session } from './session.ts';
import type { Start } from './start.ts';
import { awaitTurn } from './tenants/tenant-turn.ts';

/** How what a run begins with is loaded: from this worker, and from any. */
export interface Loading<Loaded> {
  readonly here: () => Promise<Loaded>;
  readonly elsewhere: (options: ActivityOptions) => Promise<Loaded>;
}

/**
 * The agent and what else the run begins with. Rejects with the failure of the last worker that was
 * asked, with CanceledEarly, or with a native cancellation.
 */
export async function loadAnywhere(session: Session, input: AgentInput): Promise<LoadedAgent> {
  return loadWaiting(session, input, {
    here: () => proxyLocalActivities<EverloopActivities>(LOAD_OPTIONS).loadAgent(input),
    elsewhere: (options) => proxyActivities<EverloopActivities>(options).loadAgent(input),
  });
}

/** Loads what a run begins with, and waits for a worker that can if this one cannot. */
export async function loadWaiting<Loaded extends Pick<LoadedAgent, 'warnings'>>(
  session: Session,
  input: AgentInput,
  loading: Loading<Loaded>,
): Promise<Loaded> {
  try {
    return await loading.here();
  } catch (error) {
    // The failure tells the version of the worker, which is that of the workflow: those of older
    // workers have no details, so their runs end here when they are replayed. No patch is needed.
    const lack = noAgentOf(error);
    const ms = lack === null ? 0 : waitOf(lack, input);
    if (lack === null || ms === 0) throw error;
    const { near, what = `agent ${session.agent}` } = lack;
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    session.opening = `worker with ${what}${hint}`;
    const loaded = await loadElsewhere(session, loading, { ms, first: error });
    const message = `waited for a worker with ${what}`;
    return { ...loaded, warnings: [...loaded.warnings, { code: 'elsewhere', message }] };
  }
}

async function loadElsewhere<Loaded>(
  { mailbox }: Session,
  { elsewhere }: Loading<Loaded>,
  { ms, first }: { readonly ms: number; readonly first: unknown },
): Promise<Loaded> {
  const options = loadElsewhereOptions(ms, createSpread(workflowInfo().runId));
  const scope = new CancellationScope({ cancellable: true });
  const isCanceled = (): boolean => mailbox.peek().cancel !== null;
  const isNative = (): boolean => CancellationScope.current().consideredCancelled;
  // A native cancel rejects this too, and reaches the scope by itself.
  void condition(isCanceled).then(
    () => scope.cancel(),
    () => undefined,
  );
  try {
    return await scope.run(() => elsewhere(onAnyWorker(options)));
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

/** What another worker may have. */
const LACKS: readonly unknown[] = [
  'agent_not_found',
  'extension_not_found',
  'mcp_unavailable',
  'fork_workflows',
  'replay_failed',
  'keys_missing',
];

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

/**
 * Waits for the turn of a run, or of a turn of a conversation. From now on the session has the tenant,
 * so that its end, or a cancel, leaves the ledger.
 *
 * @throws CanceledEarly when a user cancels the wait.
 */
export async function tenantTurn(session: Session, tenant: string): Promise<TenantTurn> {
  session.turn = null;
  session.tenant = tenant;
  session.opening = `turn of tenant ${tenant}`;
  const turn = await awaitTurn(tenant, {
    turn: () => session.turn,
    isCanceled: () => session.mailbox.peek().cancel !== null,
  });
  session.opening = DEFINITION;
  if (turn === null) throw new CanceledEarly();
  return turn;
}

/** A fork, ready to run. */
export interface Fork extends Pick<LoadedFork, 'runtime' | 'awaitsTurn'> {
  readonly state: RunState;
  readonly opening: Opening;
}

/**
 * Loads the fork that `start` asks for: a worker replays its source, and the run begins with the state
 * that comes of it. Its first inputs go into the inbox.
 */
export async function loadFork(
  session: Session,
  { input, parent }: Extract<Start, { readonly kind: 'fresh' }>,
): Promise<Fork> {
  const { firstExecutionRunId, startTime } = workflowInfo();
  const order = {
    input,
    identity: {
      runId: firstExecutionRunId,
      startedAt: startTime.getTime(),
      ...defined({
        parent: parent ?? undefined,
        trace: parent === null ? input.trace : parent.trace,
      }),
    },
  };
  const loaded = await loadWaiting(session, input, {
    here: () => proxyActivities<EverloopActivities>(FORK_OPTIONS).loadFork(order),
    elsewhere: ({ retry, scheduleToCloseTimeout }) => {
      const { scheduleToCloseTimeout: _own, ...own } = FORK_OPTIONS;
      const options = { ...own, ...defined({ retry, scheduleToCloseTimeout }) };
      const { loadFork: load } = proxyActivities<EverloopActivities>(onAnyWorker(options));
      return load({ ...order, isElsewhere: true });
    },
  });
  const { state, inputs, warnings, runtime, awaitsTurn } = loaded;
  // The events and entries before it are those of the source.
  session.log = createRunLog(state);
  for (const [index, text] of inputs.entries()) {
    session.mailbox.accept({ id: `fork:${index + 1}`, kind: 'queue', text });
  }
  return { state, runtime, opening: { warnings }, ...defined({ awaitsTurn }) };
}
