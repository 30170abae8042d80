/** The metrics of Temporal's SDK that pages and the dashboard name; `test/e2e/traces.test.ts` scrapes each. */
export const SDK_METRICS: readonly string[] = [
  'temporal_activity_schedule_to_start_latency',
  'temporal_worker_task_slots_used',
  'temporal_workflow_task_execution_failed',
];
