import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { actionsIn } from '../../bench/support/history-actions.ts';
import type { History } from '../../bench/support/history-reader.ts';
import { actionsOfText, actionsSince, sumOf } from '../../bench/support/server-metrics.ts';

const historyOf = (events: readonly object[]): History => ({ events }) as unknown as History;

describe('the actions in a history', () => {
  it('counts starts, activities with their retries, timers, messages and children', () => {
    const history = historyOf([
      { workflowExecutionStartedEventAttributes: {} },
      { workflowTaskScheduledEventAttributes: {} },
      { activityTaskScheduledEventAttributes: {} },
      { activityTaskStartedEventAttributes: { attempt: 3 } },
      { activityTaskCompletedEventAttributes: {} },
      { timerStartedEventAttributes: {} },
      { timerFiredEventAttributes: {} },
      { workflowExecutionSignaledEventAttributes: {} },
      { workflowExecutionUpdateAcceptedEventAttributes: {} },
      { startChildWorkflowExecutionInitiatedEventAttributes: {} },
      { childWorkflowExecutionStartedEventAttributes: {} },
    ]);

    expect(actionsIn(history)).toEqual({ actions: 8, exempt: 0 });
  });

  it('counts the markers of one workflow task together', () => {
    const marker = (workflowTaskCompletedEventId: number): object => ({
      markerRecordedEventAttributes: { workflowTaskCompletedEventId },
    });

    expect(actionsIn(historyOf([marker(4), marker(4), marker(9)])).actions).toBe(2);
  });

  it('leaves out the attribute in which the SDK notes versions', () => {
    const upsert = (...names: readonly string[]): object => ({
      upsertWorkflowSearchAttributesEventAttributes: {
        searchAttributes: { indexedFields: Object.fromEntries(names.map((name) => [name, {}])) },
      },
    });
    const history = historyOf([upsert('TemporalChangeVersion'), upsert('EverloopState')]);

    expect(actionsIn(history)).toEqual({ actions: 1, exempt: 1 });
  });
});

describe('the actions in the metrics of a server', () => {
  it('are those of namespace default, by type', () => {
    const text = [
      '# TYPE action counter',
      'action{action_type="grpc_RecordActivityTaskHeartbeat",namespace="default",a="b"} 3',
      'action{action_type="command_ScheduleActivityTask",namespace="default",a="b"} 5',
      'action{action_type="command_ScheduleActivityTask",namespace="default",a="c"} 1',
      'action{action_type="grpc_StartWorkflowExecution",namespace="temporal_system",a="b"} 7',
      'action_other{namespace="default"} 9',
    ].join('\n');

    const counts = actionsOfText(text);

    expect(counts).toEqual({ RecordActivityTaskHeartbeat: 3, ScheduleActivityTask: 6 });
    expect(sumOf(counts)).toBe(9);
    expect(actionsSince({ ScheduleActivityTask: 6 }, counts)).toEqual({
      RecordActivityTaskHeartbeat: 3,
    });
  });
});

describe('the lockfile of the peers', () => {
  it('names no registry', () => {
    const path = new URL('../../bench/peers/package-lock.json', import.meta.url);

    expect(readFileSync(path, 'utf8')).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
  });
});
