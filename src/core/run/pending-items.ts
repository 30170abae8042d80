/** What waits in a run, as those see it who may end it. */
import { openWaits, type Inbox } from './inbox.ts';
import type { PendingItem } from '../contract/messages.ts';
import type { WaitingItem } from '../contract/pending.ts';
import type { RunState } from './run-state.ts';

/**
 * All that waits for people, oldest first: in the run itself, its pause included, then in its children as
 * far as they have said.
 */
export function pendingItems(state: RunState, inbox: Inbox): readonly PendingItem[] {
  const whose = { agent: state.head.spec.name, path: state.agentPath };
  const { pending = [] } = openWaits(state, inbox);
  const items = pending.map((item): PendingItem => ({ ...shownItem(item), ...whose }));
  const { pausedAt, children = [] } = state;
  const below = children.flatMap(({ childId, callId, pending: waiting }) =>
    waiting.map((item): PendingItem => ({
      ...item,
      id: idBelow(callId, item.id),
      run: item.run ?? childId,
    })),
  );
  if (pausedAt === null) return [...items, ...below];
  return [...items, { id: 'pause', kind: 'pause', since: pausedAt, ...whose }, ...below];
}

/** What item `id` of the child of call `callId` is called in its parent: unique in the tree, `1.2/q1`. */
function idBelow(callId: string, id: string): string {
  return `${callId}/${id}`;
}

/** An item without what only the loop needs. */
function shownItem(item: WaitingItem): DistributiveOmit<PendingItem, 'agent' | 'path'> {
  const { id, since, deadline } = item;
  const base = { id, since, ...(deadline === undefined ? {} : { deadline }) };
  switch (item.kind) {
    case 'question': {
      const { kind, question, options, free, default: fallback, details } = item;
      return {
        ...base,
        kind,
        question,
        ...(options === undefined ? {} : { options }),
        free,
        ...(fallback === undefined ? {} : { default: fallback }),
        ...(details === undefined ? {} : { details }),
      };
    }
    case 'approval': {
      const { kind, tool, args, reasoning } = item;
      return { ...base, kind, tool, args, ...(reasoning === undefined ? {} : { reasoning }) };
    }
    case 'external': {
      const { kind, tool, args, details } = item;
      return { ...base, kind, tool, args, ...(details === undefined ? {} : { details }) };
    }
  }
}

type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
