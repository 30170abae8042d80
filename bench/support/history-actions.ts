/**
 * The actions of Temporal Cloud that a history shows.
 *
 * Each start of a run or a link is one, and the order of a child one more. So is each activity and
 * each of its retries, all markers of one workflow task together, each timer, signal, accepted update
 * and change of search attributes. Heartbeats, queries and refused updates leave no event: only the
 * service counts them.
 */
import type { History } from './history-reader.ts';

type HistoryEvent = NonNullable<History['events']>[number];

/** What a history shows of actions. */
export interface HistoryActions {
  readonly actions: number;
  /**
   * Changes of the attribute in which the SDK notes versions of the code. Temporal Cloud does not
   * bill them, but the metric of a server counts them.
   */
  readonly exempt: number;
}

/** The actions in the history of one link. */
export function actionsIn({ events }: History): HistoryActions {
  const all = events ?? [];
  const tasksWithMarkers = new Set(
    all.flatMap((event) => {
      const task = event.markerRecordedEventAttributes?.workflowTaskCompletedEventId;
      return task == null ? [] : [String(task)];
    }),
  );
  return {
    actions: all.reduce((sum, event) => sum + actionsOf(event), tasksWithMarkers.size),
    exempt: all.filter((event) => attributesOf(event).includes(OF_VERSIONS)).length,
  };
}

const OF_VERSIONS = 'TemporalChangeVersion';

function actionsOf(event: HistoryEvent): number {
  const { activityTaskStartedEventAttributes: started } = event;
  // The first attempt counts where it is scheduled.
  if (started != null) return (started.attempt ?? 1) - 1;
  const counted = [
    event.workflowExecutionStartedEventAttributes,
    event.startChildWorkflowExecutionInitiatedEventAttributes,
    event.activityTaskScheduledEventAttributes,
    event.timerStartedEventAttributes,
    event.workflowExecutionSignaledEventAttributes,
    event.workflowExecutionUpdateAcceptedEventAttributes,
  ];
  if (counted.some((attributes) => attributes != null)) return 1;
  return attributesOf(event).some((name) => name !== OF_VERSIONS) ? 1 : 0;
}

/** Names of the search attributes that the event changes. */
function attributesOf(event: HistoryEvent): readonly string[] {
  const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes ?? {};
  return Object.keys(searchAttributes?.indexedFields ?? {});
}
