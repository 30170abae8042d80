/** Own formats, sections, toolchains and answers on workers: with the module that adds them, and without. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { DoctorWorld } from '../../src/doctor/checks/check.ts';
import { failingTasks } from '../../src/doctor/checks/runs/failing-tasks.ts';
import { doctorService } from '../../src/doctor/service.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { cli } from '../cli/cli-fixture.ts';
import { shareBundle } from '../support/bundles.ts';
import { EARLY_CUT, fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { OwnPartsWorker } from '../support/fixtures/serve-own-parts.ts';
import { ownPartAgents, WANDERINGS } from '../support/own-part-agents.ts';
import { bodiesOf } from '../support/runs.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/own-parts.ts', import.meta.url),
);

let stage: Stage;
const workers = fixtureProcesses<OwnPartsWorker>('serve-own-parts', EARLY_CUT);
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage.close();
});

const WORKFLOW_ENTRY = fileURLToPath(new URL('../../src/workflow.ts', import.meta.url));

/** The section `table` of a turn, if it has one. */
function tableOf(metadata: unknown): readonly unknown[] {
  const { sections = {} } = Object(metadata) as { sections?: { table?: readonly unknown[] } };
  return sections.table ?? [];
}

const WAIT = { elsewhereMs: 120_000 };

async function waitsFor(run: RunHandle, what: string): Promise<void> {
  await eventually(`a wait for ${what}`, async () => (await run.status()).waitsFor.includes(what));
}

async function warningsOf(run: RunHandle): Promise<readonly string[]> {
  const warnings = bodiesOf(await run.events(), 'agent:warning');
  return warnings.filter(({ code }) => code === 'elsewhere').map(({ message }) => message);
}

it('a run describes, reads, runs and answers with own parts', async () => {
  const { everloop } = await stage.serve(ownPartAgents, { workflowsPath });
  const run = await everloop.start('speaker', { task: 'Go' });

  expect(await run.result()).toMatchObject({ status: 'success', value: { ok: true } });
  const [entry] = await run.transcript();
  expect(entry?.metadata).toMatchObject({ sections: { table: [[['a', 'b']]] } });
  await stage.replay(run, { workflowsPath });
});

it('a run keeps its own parts over hand-overs', async () => {
  const handing = await openHandoverStage(30);
  try {
    const { everloop } = await handing.serve(ownPartAgents, { workflowsPath });
    const run = await everloop.start('wanderer', { task: 'Go' });

    expect(await run.result()).toMatchObject({ status: 'success', value: { ok: true } });
    expect((await run.status()).link).toBeGreaterThan(1);
    const tables = (await run.transcript()).flatMap(({ metadata }) => tableOf(metadata));
    expect(tables).toEqual(
      Array.from({ length: WANDERINGS }, (_, index) => [['step', `${index + 1}`]]),
    );
    await handing.replay(run, { workflowsPath });
  } finally {
    await handing.close();
  }
});

describe('`everloop replay` of a run with own parts', () => {
  it.runIf(RUNS_ALL)(
    'fits with their module, is skipped without it, and says which part a module lacks',
    async () => {
      const { everloop } = await stage.serve(ownPartAgents, { workflowsPath });
      const run = await everloop.start('speaker', { task: 'Go' });
      await run.result();
      const cwd = await mkdtemp(join(stage.folder, 'replay-'));
      await shareBundle(cwd);
      const lacking = join(cwd, 'own-parts.ts');
      await writeFile(lacking, `export { agent } from '${WORKFLOW_ENTRY}';\n`);
      const replayed = async (...options: readonly string[]): Promise<unknown> => {
        const { stdout, stderr } = await cli(['--json', 'replay', run.id, ...options], {
          cwd,
          env: {
            EVERLOOP_DATA_DIR: cwd,
            TEMPORAL_ADDRESS: stage.address,
            TEMPORAL_NAMESPACE: stage.namespace,
          },
        });
        if (stdout === '') throw new Error(stderr);
        return JSON.parse(stdout);
      };

      expect(await replayed('--workflows', workflowsPath)).toMatchObject({
        links: 1,
        failures: [],
        skipped: [],
      });
      expect(await replayed()).toMatchObject({
        links: 0,
        skipped: [{ workflows: expect.stringMatching(/^own-parts@/), links: 1 }],
      });
      expect(await replayed('--workflows', lacking)).toMatchObject({
        links: 1,
        failures: [{ agent: 'speaker', message: expect.stringContaining('format own:brackets') }],
      });
    },
  );
});

describe('on a worker whose module lacks an own part, a run', () => {
  it('waits at its start for a worker that has it, and says so', async () => {
    const { everloop, taskQueue, stop } = await stage.serve(ownPartAgents, WAIT);
    const run = await everloop.start('speaker', { task: 'Go' });
    await waitsFor(run, 'worker with format own:brackets');
    await stop();
    await stage.serve(ownPartAgents, { taskQueue, workflowsPath, ...WAIT });

    expect(await run.result()).toMatchObject({ status: 'success', value: { ok: true } });
    expect(await warningsOf(run)).toEqual(['waited for a worker with format own:brackets']);
    await stage.replay(run, { workflowsPath });
  });

  it('ends as `extension_not_found` when the time is over', async () => {
    const { everloop } = await stage.serve(ownPartAgents, { elsewhereMs: 2_000 });
    const run = await everloop.start('speaker', { task: 'Go' });

    expect(await run.result()).toMatchObject({
      reason: 'extension_not_found',
      message: expect.stringContaining('which has none'),
    });
  });

  it.runIf(RUNS_ALL)('has its models asked elsewhere', async () => {
    const taskQueue = `own-parts-${randomUUID()}`;
    const queues = { taskQueue, modelQueue: `${taskQueue}-models`, ...WAIT };
    const roles = ['workflows', 'tools'] as const;
    const { everloop } = await stage.serve(ownPartAgents, { ...queues, roles, workflowsPath });
    const unfit = await stage.serve(ownPartAgents, { ...queues, roles: ['models'] });
    const run = await everloop.start('speaker', { task: 'Go' });
    await waitsFor(run, 'worker with format own:brackets');
    await unfit.stop();
    await stage.serve(ownPartAgents, { ...queues, roles: ['models'], workflowsPath });

    expect(await run.result()).toMatchObject({ status: 'success', value: { ok: true } });
    await stage.replay(run, { workflowsPath });
  });

  it.runIf(RUNS_ALL)(
    'says what it lacks where it is asked, and goes on when another takes its workflow tasks',
    async () => {
      const taskQueue = `own-parts-${randomUUID()}`;
      const queues = { taskQueue, modelQueue: `${taskQueue}-models`, ...WAIT };
      const roles = ['workflows', 'tools'] as const;
      const first = await stage.serve(ownPartAgents, { ...queues, roles, workflowsPath });
      const run = await first.everloop.start('speaker', { task: 'Go' });
      const doomed = await first.everloop.start('speaker', { task: 'Go' });
      await waitsFor(run, 'model m');
      await waitsFor(doomed, 'model m');
      await first.stop();
      // It gets the tasks of the runs first, and refuses them.
      const unfit = await stage.serve(ownPartAgents, { ...queues, roles });
      const lack = `this worker of task queue \`${taskQueue}\` lacks format own:brackets of agent \`speaker\`.`;
      await expect(run.status()).rejects.toMatchObject({
        code: 'no_worker',
        message: expect.stringContaining(lack),
      });
      await stage.serve(ownPartAgents, { ...queues, roles: ['models'], workflowsPath });
      const handle = stage.client.workflow.getHandle(run.id);
      await eventually('a refused task', async () => {
        const { events } = await handle.fetchHistory();
        return (events ?? []).some((event) =>
          event.workflowTaskFailedEventAttributes?.failure?.message?.includes('own:brackets'),
        );
      });
      const service = doctorService(stage.client);
      const found = await failingTasks.find({ service } as DoctorWorld);
      expect(found).toContainEqual({
        severity: 'error',
        message: expect.stringMatching(new RegExp(`\`${run.id}\`.*lacks format own:brackets`)),
        advice: 'Start a worker that can take it; the text says which.',
      });
      await doomed.cancel('enough', { force: true });
      await expect(doomed.result()).rejects.toMatchObject({ code: 'no_step' });
      await unfit.stop();
      await stage.serve(ownPartAgents, { ...queues, roles, workflowsPath });

      expect(await run.result()).toMatchObject({ status: 'success', value: { ok: true } });
      await stage.replay(run, { workflowsPath });
    },
    120_000,
  );
});

it.runIf(RUNS_ALL)(
  'a parser that loops costs its reply: the model is told, and the worker goes on',
  async () => {
    const taskQueue = `own-parts-${randomUUID()}`;
    const { address, namespace, folder: archiveDir } = stage;
    const worker = await workers.start({
      address,
      namespace,
      archiveDir,
      taskQueue,
      workflowsPath,
    });
    const everloop = stage.everloopOf(taskQueue);
    const run = await everloop.start('spinner', { task: 'Go' });
    const loop = await everloop.start('gatherer', { task: 'Go' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(JSON.stringify(await run.transcript())).toContain('takes too long to read');
    expect(await loop.result()).toMatchObject({ status: 'success', value: ['hits for x'] });
    expect(JSON.stringify(await loop.transcript())).toContain('they take too long to read');
    const beside = await everloop.start('speaker', { task: 'Go' });
    expect((await beside.result()).status).toBe('success');
    expect(worker.child.exitCode).toBeNull();
    for (const one of [run, loop]) await stage.replay(one, { workflowsPath });
  },
  240_000,
);
