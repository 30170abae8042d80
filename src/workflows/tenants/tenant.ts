/**
 * The workflow that keeps the ledger of a tenant: it gives runs their turns, and grants them parts
 * of the budgets of a day. What it decides is in `core/tenant/ledger.ts`.
 *
 * W1  It never ends by itself, and what it is sent never fails it: what it cannot read, it ignores.
 * W2  Its clock is asked by a local activity, because days follow from tables of time zones that
 *     differ between workers.
 * W3  Nothing is asked of the service while nobody waits. While somebody does, it looks whether the
 *     runs that have their turn are still there, after a minute, then at most every ten.
 * W4  At most {@link MAX_SENDING} messages are on their way: the service fails a task that would have
 *     2,000 at once, again and again.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  setWorkflowOptions,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { TenantActivities } from '../../activities/activity-types.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { ownWorkflowName } from './own-workflow.ts';
import {
  changedSettings,
  readJoin,
  readLeave,
  readRequest,
  TENANT_MEMO,
  TENANT_MESSAGES,
  type TenantChange,
  type TenantView,
} from '../../core/tenant/tenant-messages.ts';
import {
  hasWaits,
  joined,
  left,
  lost,
  needsDay,
  newLedger,
  onDay,
  requested,
  serve,
  withSettings,
  type TenantLedger,
  type ToRun,
} from '../../core/tenant/ledger.ts';
import { packed, unpacked, type PackedLedger } from '../../core/tenant/packed-ledger.ts';
import { changeProblem, readSettings } from '../../core/tenant/settings.ts';
import { viewOf } from '../../core/tenant/view.ts';
import { recorded } from '../recorded/recorded.ts';

/** How a ledger begins: new, or with what the link before had. */
export interface TenantStart {
  readonly v: 1;
  readonly tenant: string;
  /** The settings of a ledger of this tenant that is gone; absent: there is none. */
  readonly settings?: unknown;
  readonly ledger?: PackedLedger;
}

/**
 * Messages after which the ledger continues as new, each of at most four events: its state is small,
 * and replays stay short.
 */
const MAX_MESSAGES = 1_000;

/** Messages on their way to runs. */
const MAX_SENDING = 1_500;

/** How often it looks for runs that are gone, in milliseconds: doubling from the first. */
const LOOK_MS = { first: 60_000, most: 600_000 } as const;

/** Runs that one activity looks at. */
const MAX_LOOKED = 500;

/** The local activity is asked until it answers. */
const DAY_OPTIONS = { startToCloseTimeout: '10s', retry: { initialInterval: '100ms' } } as const;

/** A look that fails is no reason to wait for it: the next one comes. */
const LOOK_OPTIONS = { startToCloseTimeout: '1m', retry: { maximumAttempts: 3 } } as const;

/** A link of a ledger, and what is being sent. */
interface Keeping {
  ledger: TenantLedger;
  isChanged: boolean;
  sending: number;
  /** Messages that came and went. */
  messages: number;
  /** More is to be sent when some messages have arrived. */
  isHeld: boolean;
}

/** Keeps the ledger of a tenant; continues as new and never returns. */
export async function tenant(start: unknown): Promise<void> {
  const keeping: Keeping = {
    ledger: ledgerOf(start),
    isChanged: true,
    sending: 0,
    isHeld: false,
    messages: 0,
  };
  install(keeping);
  let lookMs: number = LOOK_MS.first;
  const { now, readClock, isUnread } = recorded();
  let lookAt = now() + lookMs;
  while (!isFull(keeping) || keeping.isChanged) {
    if (needsDay(keeping.ledger, now())) await readDay(keeping);
    keeping.isChanged = false;
    const room = MAX_SENDING - keeping.sending;
    const { ledger, out } = serve(keeping.ledger, room);
    keeping.ledger = ledger;
    keeping.isHeld = out.length === room;
    for (const one of out) send(keeping, one);
    if (!hasWaits(ledger)) lookMs = LOOK_MS.first;
    const waitMs = nextIn(keeping.ledger, lookAt);
    const isDue = (): boolean => keeping.isChanged || isFull(keeping);
    if (waitMs === null) await condition(isDue);
    else if (waitMs > 0) await condition(isDue, waitMs);
    // Messages bring no time, but a timer has fired where the day of a budget in use has ended.
    if (waitMs === null || isUnread()) await readClock();
    if (hasWaits(keeping.ledger) && now() >= lookAt) {
      await look(keeping);
      lookMs = Math.min(lookMs * 2, LOOK_MS.most);
      lookAt = now() + lookMs;
    }
  }
  await condition(() => keeping.sending === 0);
  await condition(allHandlersFinished);
  const ledger = packed(keeping.ledger);
  await continueAsNew<typeof tenant>({ v: 1, tenant: ledger.tenant, ledger } satisfies TenantStart);
}

/** Only a link of ours begins with a ledger: a client cannot hand one over. */
function ledgerOf(start: unknown): TenantLedger {
  const isContinued = workflowInfo().continuedFromExecutionRunId !== undefined;
  const given = isPlainObject(start) ? start : {};
  const name = ownWorkflowName('ledger');
  const carried = isContinued ? unpacked(given['ledger']) : null;
  return carried ?? newLedger(name, readSettings(given['settings']));
}

function isFull({ messages }: Keeping): boolean {
  return messages > MAX_MESSAGES || recorded().has('suggested');
}

/** In how many milliseconds there is something to do without a message; null: never. */
function nextIn({ day, ...ledger }: TenantLedger, lookAt: number): number | null {
  const isWaited = hasWaits({ day, ...ledger });
  // What live runs have spent by then is of this day, so it must end in time.
  const ends = day !== null && (isWaited || ledger.holders.length > 0) ? [day.endsAt] : [];
  const looks = isWaited && ledger.holders.length > 0 ? [lookAt] : [];
  const times = [...ends, ...looks];
  return times.length === 0 ? null : Math.max(1, Math.min(...times) - recorded().now());
}

async function readDay(keeping: Keeping): Promise<void> {
  const { tenantDay } = proxyLocalActivities<TenantActivities>(DAY_OPTIONS);
  const { timeZone } = keeping.ledger.settings;
  const day = await tenantDay({ timeZone, at: recorded().now() });
  if (keeping.ledger.settings.timeZone === timeZone) keeping.ledger = onDay(keeping.ledger, day);
}

/** Looks which runs are gone without a word. */
async function look(keeping: Keeping): Promise<void> {
  const { endedRuns } = proxyActivities<TenantActivities>(LOOK_OPTIONS);
  const runs = keeping.ledger.holders.map(({ run }) => run);
  for (let first = 0; first < runs.length; first += MAX_LOOKED) {
    const some = runs.slice(first, first + MAX_LOOKED);
    const ended = await endedRuns({ runs: some }).catch(() => []);
    for (const run of ended) keeping.ledger = lost(keeping.ledger, run);
    keeping.isChanged ||= ended.length > 0;
  }
}

/** A run that cannot be told has ended. */
function send(keeping: Keeping, { run, message }: ToRun): void {
  const signal = 'kind' in message ? message.kind : TENANT_MESSAGES.turn;
  keeping.sending += 1;
  keeping.messages += 1;
  void getExternalWorkflowHandle(run)
    .signal(signal, message)
    .catch(() => {
      keeping.ledger = lost(keeping.ledger, run);
      keeping.isChanged = true;
    })
    .then(() => {
      keeping.sending -= 1;
      if (keeping.isHeld && keeping.sending <= MAX_SENDING / 2) keeping.isChanged = true;
    });
}

function install(keeping: Keeping): void {
  const change = (ledger: TenantLedger): void => {
    keeping.messages += 1;
    keeping.isChanged ||= ledger !== keeping.ledger;
    keeping.ledger = ledger;
  };
  setHandler(defineSignal<[unknown]>(TENANT_MESSAGES.join), (payload) => {
    const join = readJoin(payload);
    if (join !== null) change(joined(keeping.ledger, join.run));
  });
  setHandler(defineSignal<[unknown]>(TENANT_MESSAGES.leave), (payload) => {
    const leave = readLeave(payload);
    if (leave !== null) change(left(keeping.ledger, leave));
  });
  setHandler(defineSignal<[unknown]>(TENANT_MESSAGES.request), (payload) => {
    const request = readRequest(payload);
    if (request !== null) change(requested(keeping.ledger, request));
  });
  // A fleet that moves to another version tells all workflows; this one is not pinned.
  setHandler(defineSignal(TENANT_MESSAGES.nudge), () => undefined);
  setHandler(
    defineUpdate<TenantView, [TenantChange]>(TENANT_MESSAGES.set),
    (asked) => {
      const settings = changedSettings(keeping.ledger.settings, asked);
      change(withSettings(keeping.ledger, settings));
      upsertMemo({ [TENANT_MEMO]: settings });
      return viewOf(keeping.ledger);
    },
    {
      validator: (asked) => {
        const message = changeProblem(asked);
        if (message === undefined) return;
        throw ApplicationFailure.create({ type: 'invalid_input', message, nonRetryable: true });
      },
    },
  );
  setHandler(defineQuery<TenantView>(TENANT_MESSAGES.view), () => viewOf(keeping.ledger));
}

// It lives for years, and must not keep an old version of the workers in service. The service refuses
// every task of a worker without a version that names a behavior.
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, tenant);
