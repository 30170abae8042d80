/** What waits in a run, as shown to the people who can end the wait. */
import { defined } from '../base/defined.ts';
import { openWaits, type Inbox } from './inbox.ts';
import type { PendingItem } from '../contract/messages.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import type { OpenInput, QuestionItem, WaitingItem } from '../contract/pending.ts';
import type { RunState } from './run-state.ts';

/**
 * Everything that waits for people, oldest first: in the run itself, including its pause, then in
 * its children, as they last reported.
 */
export function pendingItems(state: RunState, inbox: Inbox): readonly PendingItem[] {
  const whose = { agent: state.head.spec.name, path: state.agentPath };
  const { pending = [] } = openWaits(state, inbox);
  const items = pending.map((item): PendingItem => ({ ...shownItem(item), ...whose }));
  const { pausedAt, children = [] } = state;
  const below = children.flatMap(({ childId, callId, pending: waiting }) =>
    waiting.map((item): PendingItem => ({
      ...item,
      // Unique in the tree, such as `1.2/q1`.
      id: `${callId}/${item.id}`,
      run: item.run ?? childId,
    })),
  );
  if (pausedAt === null) return [...items, ...below];
  return [...items, { id: 'pause', kind: 'pause', since: pausedAt, ...whose }, ...below];
}

/** An item without the fields that only the loop needs, and without its run. */
export function shownItem(item: WaitingItem): ShownItem {
  const { id, since, deadline } = item;
  const base = defined({ id, since, deadline });
  switch (item.kind) {
    case 'question': {
      const { kind, question, options, free, default: fallback } = item;
      const details = item.input === undefined ? item.details : inputDetails(item, item.input);
      return { ...base, ...defined({ kind, question, options, free, default: fallback, details }) };
    }
    case 'approval': {
      const { kind, tool, args, reasoning } = item;
      return { ...base, ...defined({ kind, tool, args, reasoning }) };
    }
    case 'external': {
      const { kind, tool, args, details } = item;
      return { ...base, ...defined({ kind, tool, args, details }) };
    }
  }
}

/** What a person needs to answer a tool or its server: who asks, and the form or the page. */
function inputDetails({ details }: QuestionItem, { asked, key }: OpenInput): Json | undefined {
  const request = asked.requests[key];
  if (request === undefined || !isJsonObject(details)) return details;
  return request.kind === 'form'
    ? { ...details, form: request.form }
    : { ...details, url: request.url };
}

/** An item that waits, without its run. */
export type ShownItem = DistributiveOmit<
  Exclude<PendingItem, { readonly kind: 'pause' }>,
  'agent' | 'path' | 'run'
>;

type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
