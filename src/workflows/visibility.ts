/**
 * What lists of runs show of this one: whether and for what it waits, in the memo, and search
 * attributes.
 *
 * I1  A workflow task with an attribute that the namespace lacks fails for ever. So a run has only
 *     the attributes that its start has, which the service has checked then, and which history keeps.
 * I2  A wait for people costs one event for the memo and one for the attribute when it begins, and
 *     when it ends. Other turns cost none.
 * I3  Items that come and go during a wait are no reason for a command: after local activities, a
 *     replay may do in one step what the first execution did in two. So the worker is told by a
 *     sink, and sends a signal, whose command has one place in every replay.
 */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import { SEARCH_ATTRIBUTES, visibleState } from '../core/base/search-attributes.ts';
import { openWaits, type Inbox } from '../core/run/inbox.ts';
import { listWaits, WAITS_KEY, type ListedWaits } from '../core/people/listed-waits.ts';
import type { RunState } from '../core/run/run-state.ts';
import { sinks } from './sinks.ts';

const AGENT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD');
const STATE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD');
const TENANT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.tenant, 'KEYWORD');

/** Whether this run was started with the attributes. */
function isListed(): boolean {
  return workflowInfo().typedSearchAttributes.get(STATE) !== undefined;
}

/** The attributes of a child run of `agent`: those that this run has. */
export function attributesOfChild(agent: string): SearchAttributePair[] {
  if (!isListed()) return [];
  const tenant = workflowInfo().typedSearchAttributes.get(TENANT);
  return [
    { key: AGENT, value: agent },
    { key: STATE, value: visibleState(false) },
    ...(tenant === undefined ? [] : [{ key: TENANT, value: tenant }]),
  ];
}

/** Says in lists of runs whether and for what this one waits. */
export interface Announcement {
  /** Says that a wait for people begins or ends, if one does; called before the workflow waits. */
  readonly announce: (state: RunState | undefined, inbox: Inbox) => void;
  /** Says what waits now; called for a signal, and never by the loop (I3). */
  readonly list: (state: RunState | undefined, inbox: Inbox) => void;
}

/** The announcement of this link. */
export function createAnnouncement(): Announcement {
  const { memo = {} } = workflowInfo();
  let announced = memo['waiting'] === true;
  let listed = JSON.stringify(memo[WAITS_KEY] ?? null);
  const hasAttribute = isListed();

  const upsert = (waits: ListedWaits | null, waiting?: boolean): void => {
    upsertMemo(defined({ waiting, [WAITS_KEY]: waits }));
    // A replay may come to another list than the first execution, which nobody sees then (I3).
    const isSure = !workflowInfo().unsafe.isReplaying || (waits?.items.length ?? 0) < 2;
    listed = isSure ? JSON.stringify(waits) : '';
  };
  const waitsOf = createWaitsOf();
  return {
    announce: (state, inbox) => {
      const isWaiting = (state?.pending ?? []).length > 0;
      const waits = isWaiting ? waitsOf(state, inbox) : null;
      if (isWaiting !== announced) {
        announced = isWaiting;
        upsert(waits, isWaiting);
        if (hasAttribute) {
          upsertSearchAttributes([{ key: STATE, value: visibleState(isWaiting) }]);
        }
      } else if (waits !== null && JSON.stringify(waits) !== listed) {
        sinks.waits.changed();
      }
    },
    list: (state, inbox) => upsert(waitsOf(state, inbox)),
  };
}

/** What waits now; computed anew only after a change. */
function createWaitsOf(): (state: RunState | undefined, inbox: Inbox) => ListedWaits | null {
  let seen: readonly unknown[] = [];
  let waits: ListedWaits | null = null;
  return (state, inbox) => {
    const now = [state?.pending, inbox.answers];
    if (now.every((part, at) => part === seen[at]) && seen.length > 0) return waits;
    seen = now;
    const { pending = [] } = openWaits(state ?? {}, inbox);
    waits =
      state === undefined || pending.length === 0 ? null : listWaits(pending, state.agentPath);
    return waits;
  };
}
