/**
 * What lists of runs show of this one: a bit in the memo, and search attributes.
 *
 * I1  A workflow task with an attribute that the namespace lacks fails for ever. So a run has only
 *     the attributes that its start has, which the service has checked then, and which history keeps.
 * I2  Each change costs one event for the memo and one for the attribute, when a wait for people
 *     begins or ends, and none in other turns.
 */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, visibleState } from '../core/base/search-attributes.ts';

const AGENT = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD');
const STATE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD');

/** Whether this run was started with the attributes. */
function isListed(): boolean {
  return workflowInfo().typedSearchAttributes.get(STATE) !== undefined;
}

/** The attributes of a child run of `agent`: those that this run has. */
export function attributesOfChild(agent: string): SearchAttributePair[] {
  if (!isListed()) return [];
  return [
    { key: AGENT, value: agent },
    { key: STATE, value: visibleState(false) },
  ];
}

/**
 * Says whether the run waits for people, at each change. Workers of earlier releases wrote only the
 * memo, so a link that began on one of them does that still: `limitsAtOnce` is false there.
 */
export function createAnnouncement(limitsAtOnce: boolean): (isWaiting: boolean) => void {
  let announced = workflowInfo().memo?.['waiting'] === true;
  const hasAttribute = limitsAtOnce && isListed();
  return (isWaiting) => {
    if (isWaiting === announced) return;
    announced = isWaiting;
    upsertMemo({ waiting: isWaiting });
    if (hasAttribute) upsertSearchAttributes([{ key: STATE, value: visibleState(isWaiting) }]);
  };
}
