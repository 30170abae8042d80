/**
 * What the workflow, its handlers and its hand-over share: one mutable record for one link of a
 * chain. Handlers may run before the agent is loaded and while the run is handed over, so the
 * comment of each field says what it is then.
 */
import { sizesOf, type SizeLimits } from '../core/base/size-limits.ts';
import { workflowInfo } from '@temporalio/workflow';
import type { TreeHandlers } from '../core/children/tree-handlers.ts';
import { createMailbox, EMPTY_INBOX, type Inbox, type Mailbox } from '../core/run/inbox.ts';
import { createRunLog, type RunLog } from '../core/run/run-log.ts';
import { defined } from '../core/base/defined.ts';
import { isPlainObject } from '../core/base/json.ts';
import type { Run } from '../core/run/run.ts';
import { isBetweenTurns, type RunState } from '../core/run/run-state.ts';
import { isoOfMoment } from '../core/text/civil-date.ts';
import type { TenantTurn } from '../core/tenant/tenant-messages.ts';
import type { Step, StepSchedule, StepTrace } from '../core/contract/step.ts';
import { NO_CALLBACKS, type Callbacks } from './callbacks/callbacks.ts';
import { createHeldCalls, type HeldCalls } from './attempts/held-calls.ts';
import { createOperatorCalls, type OperatorCalls } from './attempts/operator-calls.ts';
import { recorded } from './recorded/recorded.ts';
import type { Start } from './start.ts';
import type { Adjustment, Overrun } from '../core/contract/messages.ts';
import type { TemporalHost } from './temporal-host.ts';

/** What a run waits for first: the definition of its agent. */
export const DEFINITION = 'definition';

/** One link of a chain, as its handlers see it. */
export interface Session {
  /** Name of the agent, as the input gave it. */
  readonly agent: string;
  readonly mailbox: Mailbox;
  /** Replaced before the first event of a fork, whose numbers go on from its source. */
  log: RunLog;
  /**
   * Number of this link, from 1. Once a hand-over is decided, the state has the number of the next.
   */
  readonly link: number;
  /** Run id of the link before; null in the first link. */
  readonly previous: string | null;
  /** The state that the link before handed over, with its waits; null in the first link. */
  readonly restored: RunState | null;
  /** The schedule that started the run; undefined for any other run. */
  readonly schedule: RunState['schedule'];
  /** How large its parts may be; those of runs without blobs until the agent is loaded. */
  sizes: SizeLimits;
  /** Null until the agent is loaded. */
  run: Run | null;
  /** Null until the agent is loaded. */
  host: TemporalHost | null;
  /** Null until the agent is loaded; other runs repeat messages that come before that. */
  tree: TreeHandlers | null;
  /** Nobody is called back until the agent is loaded. */
  callbacks: Callbacks;
  /** What must not be computed again; null until a worker has said so. */
  overrun: Overrun | null;
  /** Which calls hold their workers. */
  readonly heldCalls: HeldCalls;
  /** Which calls wait for an operator. */
  readonly operatorCalls: OperatorCalls;
  /** The tenant whose ledger has given the run its turn, or is to; null: none. */
  tenant: string | null;
  /** The turn of the run; null until it has it, and in later links. */
  turn: TenantTurn | null;
  /** The mark of the workflows that run it; null: Everloop's; undefined until the agent is loaded. */
  workflows: string | null | undefined;
  /** What the run waits for before its agent is loaded, in words. */
  opening: string;
  /** Set when the run has ended. */
  step: Step | null;
  /** Adjustments that the link before deferred. */
  readonly handedAdjustments: readonly Adjustment[];
  /** Adjustments that came after the decision to hand over; the next link applies them. */
  readonly deferredAdjustments: Adjustment[];
}

/** What a fresh start says of its schedule. It is not checked yet, so it may be anything. */
function claimedBy(start: Start): Session['schedule'] {
  if (start.kind === 'continued' || !isPlainObject(start.input)) return undefined;
  return start.input.scheduled;
}

/** The session of a link that begins with `start`. */
export function openSession(start: Start): Session {
  const continued = start.kind === 'continued' ? start.handover : null;
  const session: Session = {
    agent: start.kind === 'continued' ? start.handover.state.head.spec.name : start.agent,
    // An urgent message before the agent is loaded finds nothing in flight to abort.
    mailbox: createMailbox(inboxOf(start), () => session.host?.abort()),
    log: createRunLog(continued?.state ?? { seq: 0, historyLength: 0 }),
    link: continued?.state.link ?? 1,
    previous: continued?.previous ?? null,
    restored: continued?.state ?? null,
    schedule: continued === null ? claimedBy(start) : continued.state.schedule,
    sizes: sizesOf(continued?.runtime ?? {}),
    run: null,
    host: null,
    tree: null,
    callbacks: NO_CALLBACKS,
    overrun: null,
    heldCalls: createHeldCalls(),
    operatorCalls: createOperatorCalls(),
    tenant: tenantOf(continued?.state),
    turn: null,
    workflows: undefined,
    opening: DEFINITION,
    step: null,
    handedAdjustments: continued?.putOff ?? [],
    deferredAdjustments: [],
  };
  return session;
}

function inboxOf(start: Start): Inbox {
  return (start.kind === 'continued' ? start.handover.inbox : start.inbox) ?? EMPTY_INBOX;
}

/** The tenant whose turn the run has; between turns of a conversation it has none. */
function tenantOf(state: RunState | undefined): string | null {
  const hasTurn = state?.hasTurn === true && !isBetweenTurns(state);
  return hasTurn ? (state.tenant ?? null) : null;
}

/** The executions of this link and of its chain, and the inputs that were not read. */
export function traceOf(session: Session): StepTrace {
  const { workflowId, runId, firstExecutionRunId } = workflowInfo();
  const state = session.run?.state ?? session.restored;
  const inbox = session.mailbox.peek();
  return {
    workflowId,
    executionId: runId,
    firstExecutionId: firstExecutionRunId,
    ...defined({ rootRunId: state?.parent?.rootRunId, traceparent: state?.trace?.parent }),
    unreadInputs: inbox.waiting.map((input) => input.id),
    ...defined({ schedule: session.schedule && endingNow(session.schedule) }),
    chain: {
      links: session.link,
      events: state?.seq ?? 0,
      entries: state?.historyLength ?? 0,
      inputs: inbox.accepted,
    },
  };
}

/** The schedule in the trace of a run that ends now. */
function endingNow({ id, time }: NonNullable<RunState['schedule']>): StepSchedule {
  return { id, time, endedAt: isoOfMoment(recorded().now(), 0) };
}
