/** The checks that ask the service, on a server of their own: runs in the states that they look for. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { DoctorWorld } from '../../src/doctor/checks/check.ts';
import { readClock } from '../../src/doctor/clock.ts';
import type { DoctorFinding } from '../../src/doctor/run-doctor.ts';
import { doctorService } from '../../src/doctor/service.ts';
import { createDeployment } from '../../src/versioning/deployment.ts';
import { readPollers } from '../../src/versioning/deployment-service.ts';
import { readConfig } from '../../src/worker/config/config.ts';
import { openBareStage } from '../support/bare-namespace.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { act, answer, gate } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';
import { found, world } from './world.ts';

const HOUR_MS = 3_600_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(30);
}, 120_000);
afterAll(() => stage?.close());

/** The world of a task queue on this server, as it is now or will be. */
function here(taskQueue: string, later = 0, deployment?: string): DoctorWorld {
  return world({
    config: readConfig({ EVERLOOP_TASK_QUEUE: taskQueue }),
    service: doctorService(stage.client, deployment),
    now: Date.now() + later,
    isOwnServer: false,
  });
}

/** The findings of a check that name a run or a version of this test. */
async function naming(
  name: string,
  code: string,
  given: DoctorWorld,
): Promise<readonly DoctorFinding[]> {
  return (await found(code, given)).filter(({ message }) => message.includes(name));
}

it('finds a full inbox and a hand-over that is put off', { timeout: 240_000 }, async () => {
  const [started, held] = [gate(), gate()];
  const search = defineTool({
    name: 'search',
    description: 'Searches.',
    execute: async () => {
      started.open();
      await held.opened;
      return 'found';
    },
  });
  const busy = defineAgent({
    name: 'busy',
    mode: 'react',
    model: { id: 'm', model: async ({ iteration }) => (iteration === 1 ? act('a') : answer()) },
    tools: [search],
  });
  const { everloop, taskQueue } = await stage.serve([busy]);
  const run = await everloop.start('busy', { task: 'Search.' });
  await started.opened;
  const service = doctorService(stage.client);
  expect(await naming(run.id, 'full-inboxes', here(taskQueue))).toEqual([]);
  expect(await service.handoverAdvice(run.id)).toEqual({ isDue: false, since: null });
  for (let sent = 0; sent < 101; sent++) await run.send('More.');

  await eventually('the inbox is full', async () => (await run.status()).unreadInputs === 101);
  expect(await naming(run.id, 'full-inboxes', here(taskQueue))).toMatchObject([
    { severity: 'warning', message: expect.stringContaining('got 101') as string },
  ]);
  expect(await naming(run.id, 'late-handovers', here(taskQueue))).toEqual([]);
  expect(await naming(run.id, 'late-handovers', here(taskQueue, HOUR_MS))).toMatchObject([
    { message: expect.stringMatching(/due for 60 minutes, with \d{2,} events/) as string },
  ]);
  expect(await naming(run.id, 'late-suggestions', here(taskQueue))).toEqual([]);
  const report = await service.seen();
  expect(report).toMatchObject({ open: 1, described: 1, asked: 1 });
  held.open();
  await run.cancel();
});

it('finds a question that waits beyond its deadline', { timeout: 120_000 }, async () => {
  const agents = peopleAgents({ timeoutMs: HOUR_MS });
  const { everloop, taskQueue } = await stage.serve(agents);
  const run = await everloop.start('clerk', { task: 'Pay John.' });
  await eventually('all wait', async () => (await run.pending()).length === 3);
  await eventually('its memo says so', async () =>
    (await doctorService(stage.client).openRuns()).some(
      ({ id, waitsForPerson }) => id === run.id && waitsForPerson,
    ),
  );

  expect(await naming(run.id, 'late-questions', here(taskQueue))).toEqual([]);
  // A run that does not answer in time is not looked into.
  const late = await eventually('the late questions', async () => {
    const all = await naming(run.id, 'late-questions', here(taskQueue, 2 * HOUR_MS));
    return all.length > 0 && all;
  });
  expect(late.map(({ message }) => message.split(' ')[1])).toEqual([
    '`q1`',
    expect.any(String),
    expect.any(String),
  ]);
  await run.cancel();
});

it('reads SDK, Node and clock from workers that poll', { timeout: 120_000 }, async () => {
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'react',
    model: { id: 'm', model: async () => answer() },
  });
  const { everloop, taskQueue } = await stage.serve([clerk]);
  const given = here(taskQueue);
  const [seen] = await eventually('a poll', async () => {
    const workers = (await given.service?.workers(taskQueue, 'workflows')) ?? [];
    return workers.length > 0 && workers;
  });
  const [major = ''] = process.versions.node.split('.');

  expect(seen?.identity).toContain(`/node-${major}/everloop-`);
  expect(seen?.sdk).toMatch(/^1\.\d+\.\d+$/);
  expect(await found('mixed-sdks', given)).toEqual([]);
  expect(await found('mixed-nodes', given)).toEqual([]);
  // Each run makes the worker poll anew while the clocks are compared.
  let isOver = false;
  const runs = (async () => {
    while (!isOver) await (await everloop.start('clerk', { task: 'Go.' })).result();
  })();
  const look = () =>
    readPollers({ client: stage.client, name: '' }, { name: taskQueue, kind: 'workflows' });
  const sound = await eventually('new polls', async () => {
    const bounds = await readClock(look);
    return bounds.least !== null && bounds;
  });
  const ahead = await eventually('new polls', async () => {
    const bounds = await readClock(look, () => Date.now() + 60_000);
    return bounds.least !== null && bounds;
  });
  const behind = await readClock(look, () => Date.now() - 120_000);
  isOver = true;
  await runs;
  expect(sound.least).toBeLessThanOrEqual(0);
  expect(sound.most).toBeGreaterThanOrEqual(0);
  expect(ahead.least).toBeGreaterThan(30_000);
  expect(behind.most).toBeLessThan(-30_000);
});

it('finds that the namespace lacks search attributes', { timeout: 120_000 }, async () => {
  const bare = await openBareStage(stage.address);
  const given = { ...here('none'), service: doctorService(bare.client) };
  const lacking = await found('missing-search-attributes', given);
  await bare.client.connection.operatorService.addSearchAttributes({
    namespace: bare.namespace,
    // 2: Keyword.
    searchAttributes: { EverloopAgent: 2, EverloopState: 2, EverloopTenant: 2 },
  });

  expect(lacking).toMatchObject([
    { severity: 'information', advice: expect.stringContaining('everloop setup') as string },
  ]);
  await eventually('they are there', async () => {
    return (await found('missing-search-attributes', given)).length === 0;
  });
  await bare.close();
});

it.runIf(RUNS_ALL)(
  'finds a version that lacks workers for one of its queues',
  { timeout: 120_000 },
  async () => {
    const clerk = defineAgent({
      name: 'clerk',
      mode: 'react',
      model: { id: 'm', model: async () => answer() },
    });
    const [name, build] = [`doctor-${randomUUID()}`, 'a/1'];
    const { taskQueue } = await stage.serve([clerk], { version: { name, build } });
    await createDeployment({ client: stage.client, name }).promote(build);
    const whole = here(taskQueue, 0, name);
    const config = readConfig({
      EVERLOOP_TASK_QUEUE: taskQueue,
      EVERLOOP_TOOL_TASK_QUEUE: `${taskQueue}-tools`,
    });

    expect(await found('version-without-role', whole)).toEqual([]);
    expect(await found('version-without-role', { ...whole, config })).toMatchObject([
      { severity: 'error', message: expect.stringContaining(`${taskQueue}-tools`) as string },
    ]);
  },
);
