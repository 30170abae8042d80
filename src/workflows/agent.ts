/**
 * The workflow that runs an agent, in order: restore → handlers → load → run → hand over or end.
 */
import { defined } from '../core/base/defined.ts';
import { CancellationScope, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import { sizesOf } from '../core/base/size-limits.ts';
import { runIdProblem } from '../core/base/ids.ts';
import { shown } from '../core/text/shown.ts';
import type { ActivityRuntime, LoadedAgent } from '../activities/activity-types.ts';
import type { Ending } from '../core/run/ending.ts';
import { createTreeHandlers, progressOf } from '../core/children/tree-handlers.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { missingPart } from '../core/extension/own-parts.ts';
import { nextOf, finish, runLoop, type LoopEnd, type Opening } from '../core/loop/loop.ts';
import { givenMaterial } from '../core/start/prepare-input.ts';
import { runConversation, type FirstMessage } from '../core/loop/conversation-loop.ts';
import type { Next } from '../core/loop/work.ts';
import { createRun, type Run } from '../core/run/run.ts';
import { startState, type RunState } from '../core/run/run-state.ts';
import { stepOf, unstartedStep } from '../core/run/step-of.ts';
import type { Step } from '../core/contract/step.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import type { ParentLink } from '../core/contract/lease.ts';
import type { TenantTurn } from '../core/tenant/tenant-messages.ts';
import { isPlainObject } from '../core/base/json.ts';
import { callbackProblems, compileCallbacks } from '../core/start/callback-specs.ts';
import { createCallbacks } from './callbacks/callbacks.ts';
import { handOver } from './continuation.ts';
import {
  CanceledEarly,
  failureOf,
  leaveWith,
  loadFailure,
  RefusedTask,
  toWorkflowFailure,
} from './failures.ts';
import { applyAdjustment, installHandlers } from './handlers.ts';
import { loadAnywhere, loadFork, tenantTurn } from './load-anywhere.ts';
import { countLoaded, outgoing, roomForLast } from './sending/outgoing.ts';
import { openSession, traceOf, type Session } from './session.ts';
import { refuseProbe, sinks } from './sinks.ts';
import { recorded } from './recorded/recorded.ts';
import { readStart, type Start } from './start.ts';
import { tellAnswers } from './queries.ts';
import { createTemporalHost } from './temporal-host.ts';
import { totalsOf } from '../core/tree/child-totals.ts';
import { chargedOf, turnLeases } from '../core/tenant/fork-share.ts';
import { leaveTenant } from './tenants/tenant-turn.ts';
import {
  conversationPort,
  firstMessage,
  isGone,
  openConversation,
  reopen,
  reopening,
} from './conversation.ts';

/** Runs an agent from its input, or from what an earlier link handed over, to its Step. */
export function agent(payload: unknown): Promise<Step> {
  return runAgentWorkflow(payload, nextOf);
}

/**
 * The body of an agent workflow with a loop of the caller's choice: `loopOf` gives the iteration
 * for a specification. Events, statistics, limits, messages and hand-over come with it.
 */
export function runAgentWorkflow(
  payload: unknown,
  loopOf: (spec: AgentSpec) => Next,
): Promise<Step> {
  refuseProbe();
  const native = CancellationScope.current().cancelRequested;
  return CancellationScope.nonCancellable(async () => {
    const scope = new CancellationScope({ cancellable: true });
    // A cancel through the service waits for its turn, as every message does.
    native.catch(() =>
      recorded()
        .deliveries.turn()
        .then(() => scope.cancel()),
    );
    return scope.run(() => runChain(payload, loopOf));
  });
}

async function runChain(payload: unknown, loopOf: (spec: AgentSpec) => Next): Promise<Step> {
  let opened: Session | null = null;
  try {
    const start = readStart(payload);
    const session = openSession(start);
    opened = session;
    installHandlers(session);
    tellAnswers(session);
    const native = watchNativeCancel(session);
    const { state, runtime, opening, first } = await startOrRestore(start, session);
    refuseUnlessExtended(state.head.spec);

    // An abort cancels this scope: calls in flight end, the loop goes on.
    const flight = new CancellationScope({ cancellable: true });
    const { run, end } = await flight.run(
      () =>
        new Promise<{ readonly run: Run; readonly end: LoopEnd }>((resolve, reject) => {
          // A bug outside the loop, such as in a timer, ends the run like one in the loop.
          const run = begin(session, state, runtime, reject);
          const left =
            state.turns === undefined
              ? runLoop(run, loopOf(state.head.spec), opening)
              : runConversation(run, loopOf, conversationPort(session, run), first);
          left.then((end) => resolve({ run, end }), reject);
        }),
    );
    if (end.kind === 'ended') return await close(session, run, end.ending, native);

    // A cancel that comes now waits in the inbox.
    const ending = await CancellationScope.nonCancellable(() => handOver(session, run, runtime));
    return await close(session, run, finish(run, ending).ending, native);
  } catch (error) {
    // Asked by a user, so unlike a native cancel it completes the workflow.
    const early = error instanceof CanceledEarly ? (opened?.step ?? null) : null;
    const stepOf = (cause: string): Step | null =>
      opened === null ? null : brokenStep(opened, cause);
    const failure = early === null ? toWorkflowFailure(error, stepOf) : null;
    const handedOff = opened?.callbacks.handOff();
    if (handedOff !== undefined) await handedOff;
    if (opened !== null && opened.tenant !== null) await giveTurnBack(opened);
    if (early !== null) return leaveWith(early);
    throw failure;
  }
}

/** This worker may lack an own part that the worker which loaded the agent had. */
function refuseUnlessExtended(spec: AgentSpec): void {
  const what = missingPart(spec);
  if (what === undefined) return;
  const { taskQueue } = workflowInfo();
  throw new RefusedTask(
    `Refused: this worker of task queue \`${taskQueue}\` lacks ${what} of agent \`${spec.name}\`. A worker whose module adds it takes the run.`,
  );
}

/**
 * A native cancellation of the workflow, once it was requested. It cancels the scope of every call
 * in flight; the loop finds it in the inbox, like a user's cancel.
 */
interface NativeCancel {
  error: unknown;
}

function watchNativeCancel(session: Session): NativeCancel {
  const native: NativeCancel = { error: null };
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    native.error = error;
    session.mailbox.cancel({ reason: 'canceled', message: 'canceled through the service' });
  });
  return native;
}

/** What a link begins with. */
interface Begun {
  readonly state: RunState;
  readonly runtime: ActivityRuntime;
  readonly opening?: Opening;
  /** What a conversation begins with. */
  readonly first?: FirstMessage;
}

async function startOrRestore(start: Start, session: Session): Promise<Begun> {
  if (start.kind === 'continued') {
    outgoing().sizes = session.sizes;
    // Its first task may come long after its start.
    await recorded().readClock();
    return start.handover;
  }
  const isConversation = isPlainObject(start.input?.converses) && start.parent === null;
  refuseId(session, start, isConversation);
  return isConversation ? startConversation(start, session) : startLoaded(start, session);
}

type FreshStart = Extract<Start, { readonly kind: 'fresh' }>;

/** Begins with the first message, or where the conversation ended before. */
async function startConversation(start: FreshStart, session: Session): Promise<Begun> {
  const { input } = start;
  const after = input.converses?.after;
  if (after !== undefined) {
    const reopened = await startLoaded(
      { ...start, input: reopening(input, after) },
      session,
      isGone,
    );
    if (reopened !== null) return reopened;
  }
  const { message, input: asked } = await firstMessage(session, start).catch((error: unknown) => {
    const said = 'canceled before anything was said';
    endUnstarted(session, input, unstartedStep(session.agent, 'canceled', said, traceOf(session)));
    throw error;
  });
  const { state, runtime, opening } = await startLoaded({ ...start, input: asked }, session);
  return { runtime, ...openConversation(state, input, { message, ...defined({ opening }) }) };
}

async function startLoaded(start: FreshStart, session: Session): Promise<Begun>;
/** Null where `isNothing` holds for why it cannot be loaded. */
async function startLoaded(
  start: FreshStart,
  session: Session,
  isNothing: (error: unknown) => boolean,
): Promise<Begun | null>;
async function startLoaded(
  start: FreshStart,
  session: Session,
  isNothing: (error: unknown) => boolean = () => false,
): Promise<Begun | null> {
  const isFork = start.input?.fork !== undefined;
  const loaded = await (
    isFork ? loadFork(session, start) : loadAnywhere(session, start.input)
  ).catch((error: unknown) => {
    if (isNothing(error)) return null;
    if (isCancellation(error) || error instanceof CanceledEarly) {
      const message = 'canceled before the agent was loaded';
      const step = unstartedStep(session.agent, 'canceled', message, traceOf(session));
      endUnstarted(session, start.input, step);
      throw error;
    }
    const failure = loadFailure(error, session.agent, traceOf(session));
    endUnstarted(session, start.input, failure.details?.[0] as Step);
    throw failure;
  });
  if (loaded === null) return null;
  const { runtime } = loaded;
  session.sizes = sizesOf(runtime);
  outgoing().sizes = session.sizes;
  if (!isFork) countLoaded(loaded);
  const turn = await turnOf(session, start, loaded);
  if (turn !== undefined) await recorded().readClock();
  if ('state' in loaded) return { ...loaded, state: withTurn(loaded.state, turn) };
  return { state: freshState(start.input, start.parent, loaded, turn), runtime, opening: loaded };
}

/** Ids of ours and of children are for those that we start, whoever may start workflows. */
function refuseId(session: Session, { parent, input }: FreshStart, isConversation: boolean): void {
  const { workflowId } = workflowInfo();
  const conversation = isConversation ? input.conversation : undefined;
  const problem = runIdProblem(workflowId, parent, conversation);
  if (problem === undefined) return;
  const message = `Expected the id of a run ${problem}, got ${shown(workflowId)}. Choose another.`;
  session.step = unstartedStep(session.agent, 'invalid_input', message, traceOf(session));
  throw failureOf('invalid_input', message, session.step);
}

/** A fork with the turn that the ledger of its tenant has given it. */
function withTurn(state: RunState, turn: TenantTurn | undefined): RunState {
  if (turn === undefined) return state;
  const given = turnLeases(turn.leases, state.fork?.kept);
  const leases = given.length === 0 ? undefined : given;
  return { ...state, hasTurn: true, ...defined({ leases }) };
}

/** The turn of a run whose tenant has a ledger. A cancel ends the wait for it. */
async function turnOf(
  session: Session,
  { input }: Extract<Start, { readonly kind: 'fresh' }>,
  { awaitsTurn }: Pick<LoadedAgent, 'awaitsTurn'>,
): Promise<TenantTurn | undefined> {
  const { tenant } = input;
  if (awaitsTurn !== true || tenant === undefined) return undefined;
  return tenantTurn(session, tenant).catch((error: unknown) => {
    const message = `canceled before the turn of tenant ${tenant}`;
    const step = unstartedStep(session.agent, 'canceled', message, traceOf(session));
    endUnstarted(session, input, step);
    throw error;
  });
}

/** Tells the ledger of the tenant that the run is over, if it has the turn of the run. */
async function giveTurnBack(session: Session): Promise<void> {
  const { tenant, run, restored } = session;
  if (tenant === null) return;
  session.tenant = null;
  const state = run?.state ?? restored;
  const totals = state === null ? {} : totalsOf(state.stats);
  await leaveTenant(tenant, chargedOf(totals, state?.fork?.kept));
}

/** Ends a run whose agent was not loaded: only its start says whom to call back. */
function endUnstarted(session: Session, input: unknown, step: Step): void {
  session.step = step;
  const onEvent = isPlainObject(input) ? input['onEvent'] : undefined;
  if (callbackProblems(onEvent).length > 0) return;
  const specs = compileCallbacks(onEvent as AgentInput['onEvent']);
  session.callbacks = createCallbacks(specs, (message) => log.warn(message));
  session.callbacks.hearUnstarted(step);
}

function freshState(
  input: AgentInput,
  parent: ParentLink | null,
  { spec, material }: LoadedAgent,
  turn?: TenantTurn,
): RunState {
  const { history, memory, conversation, by, trace, scheduled, tenant } = input;
  const { firstExecutionRunId, startTime } = workflowInfo();
  return startState(
    {
      runId: firstExecutionRunId,
      agentPath: parent?.path ?? spec.name,
      depth: parent?.depth ?? 0,
      startedAt: startTime.getTime(),
      ...defined({
        parent: parent ?? undefined,
        conversation: parent === null ? conversation : parent.conversation,
        by: parent === null ? by : parent.by,
        trace: parent === null ? trace : parent.trace,
        schedule: scheduled && { id: scheduled.id, time: scheduled.time },
        tenant,
        hasTurn: turn === undefined ? undefined : (true as const),
        leases: turn === undefined || turn.leases.length === 0 ? undefined : turn.leases,
      }),
    },
    {
      spec,
      ...(material ?? givenMaterial(input)),
      ...defined({ history }),
    },
    memory,
  );
}

function begin(
  session: Session,
  state: RunState,
  runtime: ActivityRuntime,
  onBug: (error: unknown) => void,
): Run {
  session.callbacks = createCallbacks(state.head.spec.onEvent, (message) =>
    warnOfCallback(session, message),
  );
  const host = createTemporalHost({
    runtime,
    mailbox: session.mailbox,
    log: session.log,
    overrun: () => session.overrun,
    heldCalls: session.heldCalls,
    operatorCalls: session.operatorCalls,
    callbacks: session.callbacks,
    // The next turn of a conversation may have a turn of its tenant although this one has none.
    tenant: state.turns === undefined ? session.tenant : (state.tenant ?? null),
    outlivesAborts: state.turns !== undefined,
    onBug,
    run: () => session.run,
  });
  const run = createRun(state, host);
  session.workflows = runtime.workflows ?? null;
  session.host = host;
  session.run = run;
  session.tree = createTreeHandlers(run, onBug);
  for (const adjustment of session.handedAdjustments) applyAdjustment(session, adjustment);
  return run;
}

/** A callback that was not delivered changes nothing for the run, which only says so. */
function warnOfCallback({ run, host }: Session, message: string): void {
  run?.record({ type: 'agent:warning', code: 'callback_failed', message });
  host?.flush();
}

/** The Step of a run that ended by a bug, with all that is known. */
function brokenStep(session: Session, cause: string): Step {
  const { run, agent } = session;
  if (run === null) return unstartedStep(agent, 'internal', cause, traceOf(session));
  const { ending } = finish(run, { kind: 'error', code: 'internal', cause });
  const step = stepOf(run.state, ending, traceOf(session));
  session.step = step;
  session.host?.flush();
  archiveEnd(session, run);
  return step;
}

/** Archives this link, in which the run ended. A sink is no command, so it adds no event. */
function archiveEnd({ log, link }: Session, { state: { runId } }: Run): void {
  const { firstEvent, events, firstEntry, entries } = log;
  sinks.archive.write({ runId, link, firstEvent, events, firstEntry, entries });
}

async function close(
  session: Session,
  run: Run,
  ending: Ending,
  native: NativeCancel,
): Promise<Step> {
  const step = stepOf(run.state, ending, traceOf(session));
  session.step = step;
  session.host?.flush();
  archiveEnd(session, run);
  const handedOff = session.callbacks.handOff();
  if (handedOff !== undefined) await handedOff;
  if (session.tenant !== null) await giveTurnBack(session);
  const room = roomForLast(step);
  if (room !== null) await room;
  // What was said meanwhile is answered: an execution that ends would lose it.
  if (session.mailbox.peek().messages?.[0] !== undefined && native.error === null) {
    return reopen(session, run);
  }
  // A native cancel ends the workflow as cancelled; the Step is read from `status` then.
  if (native.error !== null && step.status === 'canceled') {
    // A child's Step would not reach its parent this way, so its spending is reported first.
    const { host } = session;
    if (run.state.parent !== undefined)
      await host?.sendLast(progressOf(run.state, host.link.address));
    throw native.error;
  }
  return leaveWith(step);
}
