/** `forget` of a run of which there are forks, real ones and forged ones. */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { notedForks } from '../../src/worker/files/fork-notes.ts';
import { collectArchive } from '../../src/worker/retention/collect-archive.ts';
import { forgetRun, type Forgotten } from '../../src/worker/retention/forget-run.ts';
import { knownRuns } from '../../src/worker/retention/known-runs.ts';
import { eventually } from '../support/eventually.ts';
import { payer } from '../support/fork-agents.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([payer()]);
});
afterAll(() => stage?.close());

/** Of this file alone: another may bound what runs of its own tenants do. */
const TENANT = `acme-${randomUUID().slice(0, 8)}`;

async function ended(tenant?: string): Promise<RunHandle> {
  const run = await served.everloop.start('payer', {
    task: 'Go',
    ...(tenant === undefined ? {} : { tenant }),
  });
  await run.result();
  return run;
}

function forget(id: string): Promise<Forgotten> {
  const { client } = stage;
  return forgetRun({ client, archiveDir: served.archiveDir, blobs: undefined }, id);
}

/** Starts what claims to be a fork, as any client can, and waits for its end. */
async function forge(id: string, input: object, forkedFrom: string): Promise<void> {
  const handle = await stage.client.workflow.start('agent', {
    workflowId: id,
    taskQueue: served.taskQueue,
    args: [{ agent: 'payer', task: { text: 'Go' }, ...input }],
    memo: { agent: 'payer', task: 'Go', forkedFrom },
  });
  await handle.result().catch(() => undefined);
}

it('is refused while the service has a fork of it, and so are its pages kept', async () => {
  const run = await ended();
  const { runId } = await run.result();
  const fork = await served.everloop.fork(
    { run: run.id, at: { iteration: 2 } },
    { effects: 'run' },
  );
  await fork.result();
  const again = await served.everloop.fork({ run: fork.id, at: 'latest' });
  await again.result();

  const open = knownRuns(stage.client, 0);
  const { archiveDir: directory } = served;
  const old = { directory, namespace: stage.namespace, open, keepMs: 1, dryRun: true };
  const taken: string[] = [];
  // Its newest page is older than a moment, and its run has ended.
  await expect.poll(async () => (await readdir(directory)).length).toBeGreaterThanOrEqual(3);
  for await (const { workflowId } of collectArchive({ ...old, now: () => Date.now() + 60_000 })) {
    taken.push(workflowId);
  }
  expect(taken).toEqual([again.id]);
  await expect(forget(run.id)).rejects.toMatchObject({
    code: 'run_kept',
    message: `Expected a run that no fork needs, got \`${run.id}\`, which fork \`${fork.id}\` shows as its beginning. Delete the fork first: everloop forget ${fork.id}`,
  });
  await expect(forget(fork.id)).rejects.toMatchObject({ code: 'run_kept' });
  expect(await run.transcript()).toHaveLength(4);

  for (const { id } of [again, fork, run]) {
    const { runId: first } = await stage.everloopOf(served.taskQueue).attach(id).result();
    expect((await forget(id)).executions).toBeGreaterThan(0);
    // The service deletes a history some time after it was asked to.
    await eventually('the end of its history', async () => !(await open.isRetained(id, first)));
  }
  expect(await readdir(directory)).not.toContain(runId);
}, 120_000);

it('is not held up by a run that only claims to be a fork of it', async () => {
  const run = await ended(TENANT);
  const { runId } = await run.result();
  const fork = { source: { workflowId: run.id }, at: 'start', effects: 'run' };
  // A memo alone, another tenant's, one of no moment, and one that needs effects.
  await forge(`claims-${randomUUID()}`, { v: 1 }, run.id);
  await forge(`globex:${randomUUID()}`, { v: 1, tenant: 'globex', fork }, run.id);
  await forge(
    `${TENANT}:${randomUUID()}`,
    { v: 1, tenant: TENANT, fork: { ...fork, at: { iteration: 99 } } },
    run.id,
  );
  const { effects: _effects, ...silent } = fork;
  await forge(`${TENANT}:${randomUUID()}`, { v: 1, tenant: TENANT, fork: silent }, run.id);

  expect(await notedForks(join(served.archiveDir, runId))).toEqual([]);
  expect(await forget(run.id)).toMatchObject({ runs: [run.id] });
  expect(await readdir(served.archiveDir)).not.toContain(runId);
}, 120_000);
