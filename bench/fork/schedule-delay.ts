/**
 * `schedule_delay_ms`: from the time at which a run was due to the start of its workflow, by the
 * clock of the service, on the embedded server; the longest of the starts of five schedules that are
 * due each two seconds, all at once. Excludes the worker.
 */
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ScheduleHandle } from '../../src/client/schedule-handle.ts';
import type { Stage } from '../support/bench-stage.ts';
import { figure, type Figure } from '../support/figure.ts';

const SCHEDULES = 5;
const STARTS = 5;
const POLL_MS = 500;

/** Measures on `stage` how late schedules start runs. */
export async function measureScheduleDelay(stage: Stage): Promise<Figure> {
  const agent = defineAgent({ name: 'clock', mode: 'chat', model: async () => 'tick' });
  const { everloop, stop } = await stage.serve([agent], { taskQueue: 'bench-schedules' });
  const schedules = await Promise.all(
    Array.from({ length: SCHEDULES }, (_, at) =>
      everloop.schedules.create(`delay-${at}`, { agent: 'clock', task: 'Tick', every: '2s' }),
    ),
  );
  const delays: number[] = [];
  for (const schedule of schedules) delays.push(...(await delaysOf(stage, schedule)));
  await Promise.all(schedules.map((schedule) => schedule.delete()));
  await stop();
  return figure('schedule_delay_ms', Math.max(...delays), 'ms', '<= 1000');
}

async function delaysOf({ client }: Stage, schedule: ScheduleHandle): Promise<readonly number[]> {
  for (;;) {
    const { recent } = await schedule.describe();
    if (recent.length >= STARTS) {
      return Promise.all(
        recent.map(async ({ run, time }) => {
          const { startTime } = await client.workflow.getHandle(run).describe();
          return startTime.getTime() - time.getTime();
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
