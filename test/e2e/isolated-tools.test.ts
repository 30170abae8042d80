/** Tools that would end or block their worker end alone, when they are isolated. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { EXIT_CODES } from '../../src/cli/terminal/exit-codes.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { ISOLATED_CALLS } from '../support/isolated-calls.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startWorkerCommand, type RunningCommand } from '../support/worker-command.ts';

const taskQueue = `isolated-${randomUUID()}`;
let stage: Stage;
let worker: RunningCommand;

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  worker = await startWorkerCommand(stage, { agents: 'isolated-agents.ts', taskQueue });
});
afterAll(async () => {
  await worker?.stop();
  await stage?.close();
});

it.runIf(RUNS_ALL)(
  '[R2] their worker, the run itself and the runs beside it go on',
  async () => {
    const everloop = stage.everloopOf(taskQueue);
    const run = await everloop.start('clerk', { task: 'Go.' });
    let isDone = false;
    const result = run.result().finally(() => {
      isDone = true;
    });
    const beside = [];
    while (!isDone) {
      const thinker = await everloop.start('thinker', { task: 'Think.' });
      const { status, stats } = await thinker.result();
      beside.push({ status, lost: stats.counters['agent:lost_attempts'] ?? 0 });
    }

    expect(await result).toMatchObject({
      status: 'success',
      value: 'done',
      stats: { counters: { 'shop:refunds': 6 }, gauges: { 'shop:stock': 7 } },
    });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(
      bodiesOf(events, 'agent:tool_call:after').map(({ tool, outcome, attempts }) => ({
        tool,
        outcome,
        attempts,
      })),
    ).toEqual(ISOLATED_CALLS.map(({ tool, outcome }) => ({ tool, outcome, attempts: 1 })));
    const transcript = await run.transcript();
    const read = transcript.slice(0, -1).map(({ messages }) => {
      const part = messages[1]?.parts[0];
      return part?.type === 'sections' ? part.sections[0]?.children?.[0]?.content : part;
    });
    expect(read).toEqual(ISOLATED_CALLS.map(({ text }) => expect.stringContaining(text)));

    expect(beside.length).toBeGreaterThan(1);
    expect(beside).toEqual(beside.map(() => ({ status: 'success', lost: 0 })));
    expect([worker.process.exitCode, worker.process.signalCode]).toEqual([null, null]);
    const log = worker.said();
    expect(log).toMatch(/Unhandled rejection in tool scatter \(call .* of run .*\).*left behind/);
    expect(log).toMatch(/Uncaught exception in tool scatter \(call .* of run .*\).*left behind/);
    await stage.replay(run);
  },
  240_000,
);

it('[R2] an uncaught error of no run stops the worker in order', async () => {
  const exit = once(worker.process, 'exit');
  worker.process.kill('SIGUSR2');

  expect(await exit).toEqual([EXIT_CODES.unexpected, null]);
  const log = worker.said();
  expect(log).toMatch(/Uncaught exception in code that no call of a run started.*of no run\n +at /);
}, 60_000);
