/**
 * What a workflow may decide by: the time and the flags of the service as results of activities have
 * recorded them. Only this file reads what changes while a workflow runs.
 *
 * R1  The clock stands still between two results and timers; it never goes back. Whoever acts after a
 *     long wait for a message reads it first, by `readClock`.
 * R2  Facts travel in the header of each activity, which a replay does not compare, and come back in
 *     its result, which every replay has. An execution keeps those that it has heard.
 * R3  The state is a global, which the SDK exchanges with each workflow: modules are shared.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  proxyLocalActivities,
  workflowInfo,
  type Headers,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import type { EverloopActivities } from '../../activities/activity-types.ts';
import { FACTS_HEADER, type LinkFact, type RecordedEnd } from '../../core/base/recorded.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';

/** The service ends an execution at 51,200 events or 50 MB; calls in flight still have to end. */
const MAX_EVENTS = 45_000;
const MAX_HISTORY_BYTES = 44_000_000;

/** It only returns. Without it the clock stands still until the next result. */
const CLOCK_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: 10_000,
  retry: { maximumAttempts: 3, initialInterval: 100 },
};

/** So much may come without a result of an activity before the clock is read. */
const MAX_UNTIMED = 200;

/** So much may have come since the clock was read, when a wait begins that may take months. */
const MAX_UNREAD = 3;

/** What this execution has recorded. */
export interface Recorded {
  readonly deliveries: Deliveries;
  /** Milliseconds since 1970; the same on every replay at the same place. */
  readonly now: () => number;
  /** The clock is at least `at`. */
  readonly advance: (at: number) => void;
  /** Takes what the result or the failure of an activity has recorded. */
  readonly note: (recorded: RecordedEnd) => void;
  /** Something without a time takes effect. */
  readonly noteUntimed: () => void;
  /** How many results were noted. */
  readonly noted: () => number;
  readonly has: (fact: LinkFact) => boolean;
  /** Reads the clock, and the facts. */
  readonly readClock: () => Promise<void>;
  /** Whether the facts may have changed since they were read: a result has those of its order. */
  readonly isUnread: () => boolean;
  /** The execution has its last command. */
  readonly end: () => void;
  readonly hasEnded: () => boolean;
}

/** The global that holds it. */
const RECORDED = '__EVERLOOP_RECORDED__';

/** What this workflow has recorded. */
export function recorded(): Recorded {
  const known = Reflect.get(globalThis, RECORDED) as Recorded | undefined;
  if (known !== undefined) return known;
  const made = createRecorded();
  Reflect.set(globalThis, RECORDED, made);
  return made;
}

function createRecorded(): Recorded {
  let at = workflowInfo().runStartTime.getTime();
  let results = 0;
  let untimed = 0;
  let unread = 0;
  let hasEnded = false;
  const facts = new Set<LinkFact>();
  // No cancel ends what only keeps order.
  const scope = new CancellationScope({ cancellable: false });

  const readClock = (): Promise<void> => {
    untimed = 0;
    unread = 0;
    return (
      scope
        .run(() => proxyLocalActivities<EverloopActivities>(CLOCK_OPTIONS).readClock())
        // A worker without it is another product's; the next result brings the time.
        .catch(() => undefined)
    );
  };
  const advance = (to: number): void => {
    at = Math.max(at, to);
  };
  return {
    deliveries: createDeliveries({
      quiet: () => scope.run(quiet),
      isClockDue: () => untimed >= MAX_UNTIMED,
      readClock: () => void readClock(),
    }),
    now: () => at,
    advance,
    note: ({ recordedAt, facts: heard = [] }) => {
      advance(recordedAt);
      results += 1;
      unread += 1;
      untimed = 0;
      for (const fact of heard) facts.add(fact);
    },
    noteUntimed: () => {
      unread += 1;
      untimed += 1;
    },
    noted: () => results,
    has: (fact) => facts.has(fact),
    readClock,
    isUnread: () => unread >= MAX_UNREAD,
    end: () => {
      hasEnded = true;
    },
    hasEnded: () => hasEnded,
  };
}

/** The SDK checks a condition only when no other code of the workflow can run. */
function quiet(): Promise<void> {
  let isChecked = false;
  const checked = condition(() => isChecked);
  isChecked = true;
  return checked;
}

/** `headers` of an activity with what holds now; most of the time nothing does. */
export function withFacts(headers: Headers): Headers {
  const facts = currentFacts();
  if (facts.length === 0) return headers;
  return { ...headers, [FACTS_HEADER]: defaultPayloadConverter.toPayload(facts) };
}

function currentFacts(): readonly LinkFact[] {
  const info = workflowInfo();
  const { historyLength, historySize } = info;
  const isFull = historyLength > MAX_EVENTS || historySize > MAX_HISTORY_BYTES;
  return [
    ...(info.continueAsNewSuggested ? (['suggested'] as const) : []),
    ...(isOnOldVersion() ? (['upgrade'] as const) : []),
    ...(isFull ? (['full'] as const) : []),
  ];
}

/** Whether the version of new runs has changed. It may go into a command, and decides none. */
export function isOnOldVersion(): boolean {
  return workflowInfo().targetWorkerDeploymentVersionChanged;
}

/** How long the history is now, for readers of events. */
export function currentSize(): { readonly historyEvents: number; readonly historyBytes: number } {
  const { historyLength, historySize } = workflowInfo();
  return { historyEvents: historyLength, historyBytes: historySize };
}
