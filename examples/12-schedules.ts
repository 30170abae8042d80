/**
 * A schedule: runs that begin by the clock, each of which reads when it was due and what the run
 * before it has answered. The example starts the runs of three days that are over.
 *
 *     npx tsx examples/12-schedules.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineAgent, unwrap, type ModelFunction } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { exampleModel } from './example-model.ts';

/** Adds ten orders to those of yesterday, which stand in the task. */
const count: ModelFunction = async ({ messages }) => {
  const [, yesterday = ''] = /Yesterday: (\d*)/.exec(JSON.stringify(messages)) ?? [];
  return String(Number(yesterday) + 10);
};

const clerk = defineAgent({
  name: 'clerk',
  mode: 'chat',
  instructions:
    'Each day brings ten orders. Answer with the number of all orders, and nothing else.',
  model: exampleModel(count),
});

const everloop = await local({ agents: [clerk] });
try {
  const daily = await everloop.schedules.create(`orders-${process.pid}`, {
    agent: 'clerk',
    task: 'Count the orders until {{schedule.date}}. Yesterday: {{previous.value}}',
    cron: '0 6 * * *',
    previous: true,
    paused: true,
  });
  const days = await daily.backfill({ from: '2026-05-04', until: '2026-05-07' });
  let { recent } = await daily.describe();
  while (recent.length < days) {
    await sleep(200);
    ({ recent } = await daily.describe());
  }
  for (const { run, time } of recent) {
    const step = await everloop.attach(run).result();
    console.log(
      `${time.toISOString().slice(0, 10)}: ${JSON.stringify(unwrap(step)).replaceAll('"', '')} orders`,
    );
  }
  await daily.delete();
} finally {
  await everloop.close();
}
