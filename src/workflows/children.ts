/**
 * Child runs as child workflows, and messages to the runs above and below.
 *
 * I1  A child is addressed by its workflow id alone: its run id changes when it hands over.
 * I2  Temporal cancels nothing here: a signal tells a child why it must end, and its parent awaits
 *     its Step. Otherwise its totals would be lost.
 * I3  A message that cannot be delivered is dropped: its receiver has ended.
 * I4  A child does not outlive its parent: when the parent closes without waiting, it is
 *     terminated.
 */
import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildEnd } from '../core/contract/host-outcome.ts';
import type { SizeLimits } from '../core/base/size-limits.ts';
import type { ChildOrder } from '../core/contract/host-order.ts';
import { errorText } from '../core/base/error-text.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { isStep } from '../core/contract/piping.ts';
import type { Host } from '../core/run/host.ts';
import { CHILD_END_WITHIN_MS, childRefusal, LATE_CHILD } from '../core/start/child-bounds.ts';
import { clip } from '../core/text/cut.ts';
import { redact } from '../core/text/redact.ts';
import { summaryLine } from '../core/text/summary.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import type {
  ChildCancel,
  ChildMessage,
  ParentMessage,
  ProgressMessage,
} from '../core/contract/tree-messages.ts';
import { requestOfTenant } from './tenants/ask-ledger.ts';
import { startTimer } from './timer.ts';
import { attributesOfChild } from './visibility.ts';

/** The child runs of a workflow, and the messages to them and to its parent. */
export interface ChildRuns {
  /** Runs a child to its end; see `Host.runChild`. */
  readonly run: (order: ChildOrder, cancel: () => ChildCancel) => Promise<ChildEnd>;
  readonly send: Host['send'];
  /** Sends the last report to the parent; settles when it is delivered or cannot be. */
  readonly sendLast: (progress: ProgressMessage) => Promise<void>;
  /** Makes all live children end, or one of them. Harmless if it has ended or never started. */
  readonly abort: (childId?: string) => void;
}

/** What child runs need of their run. */
export interface ChildParts {
  readonly sizes: SizeLimits;
  /** The tenant whose ledger grants budgets of the run; null: none does. */
  readonly tenant: string | null;
}

/** A live child. */
interface LiveChild {
  readonly cancel: () => ChildCancel;
  /** Messages to send once it has started, the newest of each kind. */
  readonly unsent: Map<ChildMessage['kind'], ChildMessage>;
  /** Whether the service has started it: an earlier signal would be lost. */
  isStarted: boolean;
  mustEnd: boolean;
  /** Starts the time that it has for ending. */
  readonly limitTime: () => void;
}

const MEMO_TASK_CHARACTERS = 200;

/** The service refuses details of more than 20,000 bytes. */
const MAX_DETAILS_CHARACTERS = 1_000;

/** No children yet. `onBug` gets errors of timers, which nothing awaits. */
export function createChildRuns(onBug: (error: unknown) => void, parts: ChildParts): ChildRuns {
  const live = new Map<string, LiveChild>();
  const ambient = CancellationScope.current();
  let scope: CancellationScope | null = null;
  // This work goes on when the workflow is canceled: children end by themselves. Scopes are made
  // only when needed, because each costs six promises and most runs have no relatives.
  const shield = (): CancellationScope =>
    (scope ??= new CancellationScope({ cancellable: false, parent: ambient }));
  const { send, sendLast } = createSignals(shield, live, parts.tenant);

  const cancelIfDue = (childId: string, child: LiveChild): void => {
    if (child.mustEnd && child.isStarted) send({ to: 'child', childId, message: child.cancel() });
  };
  const onStart = (childId: string, child: LiveChild): void => {
    child.isStarted = true;
    cancelIfDue(childId, child);
    for (const message of child.unsent.values()) send({ to: 'child', childId, message });
  };
  return {
    run: (order, cancel) => {
      const { childId } = order;
      return shield().run(() => {
        const patience = new CancellationScope({ cancellable: true, parent: shield() });
        let lose: (lost: ChildEnd) => void = () => undefined;
        const lost = new Promise<ChildEnd>((resolve) => {
          lose = resolve;
        });
        const onLate = (): void => lose(LATE_CHILD);
        const child: LiveChild = {
          cancel,
          unsent: new Map(),
          isStarted: false,
          mustEnd: false,
          limitTime: () => startTimer(patience, CHILD_END_WITHIN_MS, onLate, onBug),
        };
        live.set(childId, child);
        const ended = startAndAwait(order, parts.sizes, () => onStart(childId, child));
        return Promise.race([ended, lost]).then((end) => {
          live.delete(childId);
          if (child.mustEnd) patience.cancel();
          return end;
        });
      });
    },
    send,
    sendLast,
    abort: (childId) => {
      for (const id of childId === undefined ? live.keys() : [childId]) {
        const child = live.get(id);
        if (child === undefined || child.mustEnd) continue;
        child.mustEnd = true;
        child.limitTime();
        cancelIfDue(id, child);
      }
    },
  };
}

/** Messages to the parent and to children, as signals; the kind of a message names its signal. */
function createSignals(
  shield: () => CancellationScope,
  live: ReadonlyMap<string, LiveChild>,
  tenant: string | null,
): Pick<ChildRuns, 'send' | 'sendLast'> {
  const parent = workflowInfo().parent?.workflowId;
  const signal = (workflowId: string, message: ChildMessage | ParentMessage): Promise<void> =>
    shield()
      .run(() => getExternalWorkflowHandle(workflowId).signal(message.kind, message))
      // I3: it has ended.
      .catch(() => undefined);
  return {
    send: (outgoing) => {
      const { message } = outgoing;
      if (outgoing.to === 'parent') {
        if (parent !== undefined) void signal(parent, message);
        // A root asks the ledger of its tenant for the budgets of the day.
        else if (tenant !== null && outgoing.message.kind === 'lease-request') {
          const { message: request } = outgoing;
          void shield().run(() => requestOfTenant(tenant, request));
        }
        return;
      }
      const child = live.get(outgoing.childId);
      // A cancel is sent once the child has started.
      if (child?.isStarted !== false || outgoing.message.kind === 'cancel') {
        void signal(outgoing.childId, message);
      } else child.unsent.set(outgoing.message.kind, outgoing.message);
    },
    sendLast: async (progress) => {
      if (parent !== undefined) await signal(parent, { ...progress, final: true });
    },
  };
}

async function startAndAwait(
  order: ChildOrder,
  sizes: SizeLimits,
  onStart: () => void,
): Promise<ChildEnd> {
  const { childId, input } = order;
  const refusal = childRefusal(order, sizes);
  if (refusal !== null) return { kind: 'unstarted', message: refusal };
  const { text } = input.task;
  const task = clip(text, MEMO_TASK_CHARACTERS);
  let isStarted = false;
  try {
    const handle = await startChild(AGENT_WORKFLOW, {
      workflowId: childId,
      args: [input],
      parentClosePolicy: 'TERMINATE',
      memo: { agent: input.agent, task },
      staticSummary: summaryLine(`${input.agent}: ${text}`),
      staticDetails: detailsOf(order),
      typedSearchAttributes: attributesOfChild(input.agent),
    });
    isStarted = true;
    onStart();
    const step: unknown = await handle.result();
    return isStep(step) ? { kind: 'ended', step } : { kind: 'lost', message: NO_STEP };
  } catch (error) {
    return endOf(error, isStarted);
  }
}

/** What Temporal's UI shows beside a child: where it stands in its tree, and its task. */
function detailsOf({ childId, input: { task, parent } }: ChildOrder): string {
  return wellFormedText(
    clip(`${parent?.path ?? childId}\n\n${redact(task.text)}`, MAX_DETAILS_CHARACTERS),
  );
}

const NO_STEP = 'it ended without a Step';

/** How a child run ended whose workflow failed: a typed failure carries the Step. */
function endOf(error: unknown, isStarted: boolean): ChildEnd {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const step = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  if (isStep(step)) return { kind: 'ended', step };
  const message = errorText(cause);
  if (!isStarted) return { kind: 'unstarted', message };
  const canceled = cause instanceof CancelledFailure ? { canceled: true as const } : {};
  return { kind: 'lost', message, ...canceled };
}
