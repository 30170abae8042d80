/** The part of a run's state about its tree, and how events change it. */
import { defined } from '../base/defined.ts';
import type { EventBase, EventBody } from '../contract/events.ts';
import type { PendingItem } from '../contract/messages.ts';
import type { ChildSummary } from '../contract/step.ts';
import type { ChildEnds, OpenChild } from './child-totals.ts';
import { withAnswers, type Lease, type ParentLink } from '../contract/lease.ts';
import { awaitedAfter, withReturns } from './recall.ts';

/** Every field is absent in a run without parent and children. */
export interface TreeState {
  /** The parent; absent for a root. */
  readonly parent?: ParentLink;
  /** Shares of the limits of ancestors, nearest ancestor first. */
  readonly leases?: readonly Lease[];
  /** Number of the newest request for more, and of the newest that was answered. */
  readonly leaseAsked?: number;
  readonly leaseAnswered?: number;
  /** Number of the newest change of deadlines that the parent has sent. */
  readonly deadlinesHeard?: number;
  /** Live children, oldest first. */
  readonly children?: readonly OpenChild[];
  /** Children that have ended, oldest end first. */
  readonly childEnds?: ChildEnds;
}

/** The data of child events that is not published. */
export interface TreeCarried {
  /** The child that `agent:child:spawn` begins. */
  readonly child?: OpenChild;
  /** What waits in a child, as `agent:child:report` reports it. */
  readonly pending?: readonly PendingItem[];
  /** The summary of a child, as `agent:child:complete` reports it. */
  readonly summary?: ChildSummary;
}

/** The events that change it. */
export type TreeEvent = EventBase &
  Extract<
    EventBody,
    {
      readonly type:
        | 'agent:child:spawn'
        | 'agent:child:report'
        | 'agent:child:granted'
        | 'agent:child:complete'
        | 'agent:lease:asked'
        | 'agent:lease:answered'
        | 'agent:deadlines:changed';
    }
  >;

/** The fields that `event` changes. */
export function changedTree(
  state: TreeState,
  event: TreeEvent,
  carried: TreeCarried,
): Partial<TreeState> {
  const { children = [], leases = [], leaseAnswered = 0 } = state;
  const changed = (
    childId: string,
    change: (child: OpenChild) => OpenChild,
  ): Partial<TreeState> => ({
    children: children.map((child) => (child.childId === childId ? change(child) : child)),
  });
  switch (event.type) {
    case 'agent:child:spawn':
      return carried.child === undefined ? {} : { children: [...children, carried.child] };
    case 'agent:child:report': {
      const { number, totals, returned = [] } = event;
      const { pending } = carried;
      return changed(event.childId, (child) => ({
        ...(returned.length === 0 ? child : withReturns(child, returned)),
        number: Math.max(child.number, number),
        totals,
        ...defined({ pending, final: event.final }),
      }));
    }
    case 'agent:child:granted':
      return changed(event.childId, ({ awaited, ...child }) => ({
        ...child,
        ...awaitedAfter({ ...child, ...defined({ awaited }) }, event.leases),
        answered: Math.max(child.answered, event.number),
        leases: withAnswers(child.leases, event.leases, event.number >= child.answered),
      }));
    case 'agent:child:complete':
      return defined({
        children: children.filter(({ childId }) => childId !== event.childId),
        childEnds: carried.summary && [...(state.childEnds ?? []), carried.summary],
      });
    case 'agent:lease:asked':
      return { leaseAsked: event.seq };
    case 'agent:lease:answered':
      return {
        leaseAnswered: Math.max(leaseAnswered, event.number),
        leases: withAnswers(leases, event.leases, event.number >= leaseAnswered),
      };
    case 'agent:deadlines:changed':
      return state.parent === undefined
        ? {}
        : {
            parent: { ...state.parent, deadlines: event.deadlines },
            deadlinesHeard: event.number,
          };
  }
}
