import type { ScheduleDescription } from '@temporalio/client';
import { expect, it } from 'vitest';
import { summaryOfSchedule } from '../../src/client/schedule-view.ts';
import { schedulesText } from '../../src/cli/views/schedule-text.ts';

/** A schedule whose start any client may have written. */
function scheduleOf(args: readonly unknown[]): ScheduleDescription {
  const description = {
    scheduleId: 'nightly',
    action: { type: 'startWorkflow', workflowType: 'agent', args },
    spec: {},
    policies: {},
    state: { paused: true },
    info: { nextActionTimes: [], recentActions: [], runningActions: [] },
  };
  return description as unknown as ScheduleDescription;
}

it.each([
  [[]],
  [[null]],
  [[{ agent: { a: 1 }, task: { text: { x: 1 } }, schedule: { previous: 'yes' } }]],
  [[{ agent: 7, task: 7, schedule: 7 }]],
])('a start that is none does not hide the schedules beside it: %j', (args) => {
  const summary = summaryOfSchedule(scheduleOf(args));

  expect(summary).toMatchObject({ agent: '(encrypted)', task: '', previous: false });
  expect(schedulesText([summary])).toContain('nightly');
});
