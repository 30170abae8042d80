/**
 * Child runs as child workflows, and messages to the runs above and below.
 *
 * I1  A child is addressed by its workflow id alone: its run id changes when it hands over.
 * I2  Nothing here is canceled by Temporal: a child hears by a signal why it is to end, ends with its
 *     Step, and is awaited. Only so its totals come back.
 * I3  A message that cannot be delivered is dropped: who it was for has ended, or says so itself.
 * I4  A child does not outlive its parent: when that closes without waiting, it is terminated.
 */
import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  startChild,
  workflowInfo,
  type SignalDefinition,
} from '@temporalio/workflow';
import { errorText } from '../core/base/error-text.ts';
import type { ChildEnd, ChildOrder } from '../core/run/host.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { isStep } from '../core/contract/piping.ts';
import { MAX_START_BYTES } from '../core/start/start-input.ts';
import type { Step } from '../core/contract/step.ts';
import { byteSize, utf8Length, type Json } from '../core/base/json.ts';
import type {
  ChildCancel,
  ChildMessage,
  ParentMessage,
  ProgressMessage,
} from '../core/contract/tree-messages.ts';
import { startTimer } from './host-waits.ts';
import {
  cancelSignal,
  deadlinesSignal,
  leaseGrantSignal,
  leaseRequestSignal,
  progressSignal,
} from './messages.ts';

/** The runs below a workflow, and its way to the one above. */
export interface ChildRuns {
  /** Runs a child to its end; see `Host.runChild`. */
  readonly run: (order: ChildOrder, cancel: () => ChildCancel) => Promise<ChildEnd>;
  readonly tellParent: (message: ParentMessage) => void;
  readonly tellChild: (childId: string, message: ChildMessage) => void;
  /** Tells the parent for the last time, before the workflow closes without a Step; settles when told. */
  readonly sayLast: (progress: ProgressMessage) => Promise<void>;
  /** Tells one child to end. Harmless when it has ended, or was never started. */
  readonly abortOne: (childId: string) => void;
  /** Tells all children that live to end. */
  readonly abort: () => void;
}

/** A child that lives. */
interface LiveChild {
  readonly cancel: () => ChildCancel;
  /** What it is to hear once it is started, the newest of each kind. */
  readonly news: Map<ChildMessage['kind'], ChildMessage>;
  /** A signal before the service has started it would find nobody. */
  isStarted: boolean;
  isToEnd: boolean;
  readonly giveUp: () => void;
}

/**
 * How long a child may take to end once it is told: for its calls and those of its own children to stop,
 * level after level. Then it is lost, and is terminated when its parent closes.
 */
const END_WITHIN_MS = 90_000;

/** Bytes of a workflow id that the service allows. */
const MAX_ID_BYTES = 1_000;

const MEMO_TASK_CHARACTERS = 200;

/** No children yet. `onBug` is told what broke beside the loop. */
export function createChildRuns(onBug: (error: unknown) => void): ChildRuns {
  const live = new Map<string, LiveChild>();
  const ambient = CancellationScope.current();
  let scope: CancellationScope | null = null;
  // What is done here goes on when the workflow is canceled: children end by themselves. Made when it is
  // needed: each scope costs six promises, and most runs are alone.
  const shield = (): CancellationScope =>
    (scope ??= new CancellationScope({ cancellable: false, parent: ambient }));
  const parent = workflowInfo().parent?.workflowId;

  const tell = <Args extends [unknown?]>(
    workflowId: string,
    signal: SignalDefinition<Args>,
    ...args: Args
  ): Promise<void> =>
    shield()
      .run(() => getExternalWorkflowHandle(workflowId).signal(signal, ...args))
      // I3: it has ended.
      .catch(() => undefined);
  const tellChild = (childId: string, message: ChildMessage): void => {
    switch (message.kind) {
      case 'cancel':
        return void tell(childId, cancelSignal, message);
      case 'lease-grant':
      case 'deadlines': {
        const child = live.get(childId);
        if (child?.isStarted === false) child.news.set(message.kind, message);
        else if (message.kind === 'deadlines') void tell(childId, deadlinesSignal, message);
        else void tell(childId, leaseGrantSignal, message);
      }
    }
  };
  const end = (childId: string, child: LiveChild): void => {
    if (child.isToEnd && child.isStarted) tellChild(childId, child.cancel());
  };
  const abortOne = (childId: string): void => {
    const child = live.get(childId);
    if (child === undefined || child.isToEnd) return;
    child.isToEnd = true;
    child.giveUp();
    end(childId, child);
  };
  const startAndAwait = async (order: ChildOrder, child: LiveChild): Promise<ChildEnd> => {
    const { childId, input } = order;
    const refusal = refusalOf(order);
    if (refusal !== null) return { kind: 'unstarted', message: refusal };
    const { text } = input.task;
    const task = text.slice(0, MEMO_TASK_CHARACTERS);
    try {
      const handle = await startChild(AGENT_WORKFLOW, {
        workflowId: childId,
        args: [input],
        parentClosePolicy: 'TERMINATE',
        memo: { agent: input.agent, task },
        staticSummary: `${input.agent}: ${task}`,
      });
      child.isStarted = true;
      end(childId, child);
      for (const message of child.news.values()) tellChild(childId, message);
      return { kind: 'ended', step: (await handle.result()) as Step };
    } catch (error) {
      return endOf(error, child.isStarted);
    }
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
        const onLate = (): void => lose({ kind: 'lost', message: LATE });
        const child: LiveChild = {
          cancel,
          news: new Map(),
          isStarted: false,
          isToEnd: false,
          giveUp: () => startTimer(patience, END_WITHIN_MS, onLate, onBug),
        };
        live.set(childId, child);
        return Promise.race([startAndAwait(order, child), lost]).then((ended) => {
          live.delete(childId);
          if (child.isToEnd) patience.cancel();
          return ended;
        });
      });
    },
    tellParent: (message) => {
      if (parent === undefined) return;
      void (message.kind === 'progress'
        ? tell(parent, progressSignal, message)
        : tell(parent, leaseRequestSignal, message));
    },
    sayLast: async (progress) => {
      if (parent !== undefined) await tell(parent, progressSignal, { ...progress, final: true });
    },
    tellChild,
    abortOne,
    abort: () => {
      for (const childId of live.keys()) abortOne(childId);
    },
  };
}

const LATE = `it did not end within ${END_WITHIN_MS / 1_000} s of being told to`;

/** Why the service would not take a child; null when it does. */
function refusalOf({ childId, input }: ChildOrder): string | null {
  const idBytes = utf8Length(childId);
  if (idBytes > MAX_ID_BYTES) {
    return `its id has ${idBytes} bytes, at most ${MAX_ID_BYTES} are allowed`;
  }
  const bytes = byteSize(input as unknown as Json);
  return bytes > MAX_START_BYTES
    ? `its input has ${bytes} bytes, at most ${MAX_START_BYTES} are allowed`
    : null;
}

/** What the failure of a child workflow says of its run: a typed one carries the Step. */
function endOf(error: unknown, isStarted: boolean): ChildEnd {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const step = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  if (isStep(step)) return { kind: 'ended', step };
  const message = errorText(cause);
  if (!isStarted) return { kind: 'unstarted', message };
  const canceled = cause instanceof CancelledFailure ? { canceled: true as const } : {};
  return { kind: 'lost', message, ...canceled };
}
