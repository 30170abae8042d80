/** Lines of the log of a worker as JSON. */
import { expect, it } from 'vitest';
import { logLine } from '../../src/worker/serve/log-line.ts';

const AT = BigInt(Date.parse('2026-03-10T09:00:00.250Z')) * 1_000_000n;

it('has what a line is about, and nothing of what was said', () => {
  const line = logLine({
    level: 'WARN',
    timestampNanos: AT,
    message: 'Activity failed',
    meta: {
      workflowId: 'clerk-1',
      runId: 'r',
      activityType: 'callTool',
      attempt: 2,
      taskToken: 'abc',
      error: 'of a customer',
    },
  });
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({
    time: '2026-03-10T09:00:00.250Z',
    level: 'WARN',
    message: 'Activity failed',
    runId: 'r',
    workflowId: 'clerk-1',
    activity: 'callTool',
    attempt: 2,
  });
});

it('is one line, however long the message is', () => {
  const line = logLine({
    level: 'ERROR',
    timestampNanos: AT,
    message: `first\nsecond${'x'.repeat(10_000)}`,
  });
  expect(line.trimEnd().split('\n')).toHaveLength(1);
  expect(line.length).toBeLessThan(8_200);
});
