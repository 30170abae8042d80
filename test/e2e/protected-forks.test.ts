/** Forks of runs that are encrypted for a tenant, and whose payloads lie in a store of blobs. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../../src/client/connection/open-connection.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { addKeyIds } from '../../src/protection/key-ids.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf, type Protection } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { saveHistories } from '../../src/worker/files/save-histories.ts';
import { eventually } from '../support/eventually.ts';
import { payer } from '../support/fork-agents.ts';
import { pageReader } from '../support/page-reader.ts';
import { openHandoverStage, type Served, type Stage } from '../support/stage.ts';
import { storedRuns } from '../support/stored-bytes.ts';

/** A run of eight iterations has three links. */
const EVENTS = 30;

const TASK = 'A secret task';
const TENANT = 'acme';

let stage: Stage;
let protection: Protection;
let served: Served;
const paid: string[] = [];
beforeAll(async () => {
  stage = await openHandoverStage(EVENTS);
  protection = protectionOf({
    keys: keyRing({
      current: 'ours',
      keys: { ours: randomBytes(32), [TENANT]: randomBytes(32), globex: randomBytes(32) },
    }),
    keyFor: 'tenant',
    blobs: directoryBlobs(join(stage.folder, 'blobs')),
  });
  served = await stage.serve(agents(), { protection });
});
afterAll(() => stage?.close());

/** Seven pages are more than the service takes in one payload. */
const PAGE_CHARACTERS = 300_000;

function agents(): readonly AgentDefinition[] {
  const page = (query: string): string => `${query} ${'x'.repeat(PAGE_CHARACTERS)}`;
  return [payer((query) => paid.push(query)), pageReader({ iterations: 8, page })];
}

async function ended(agent: string, tenant?: string): Promise<RunHandle> {
  paid.length = 0;
  const run = await served.everloop.start(agent, {
    task: TASK,
    ...(tenant === undefined ? {} : { tenant }),
  });
  await run.result();
  return run;
}

describe('a fork of a run of a tenant', () => {
  it('is of the tenant, under its key alone, and so is what was looked at', async () => {
    const run = await ended('payer', TENANT);
    const then = await run.at({ iteration: 2 });
    expect(then.entries.map(({ index }) => index)).toEqual([0]);

    const source = { run: run.id, at: { iteration: 2 } };
    const fork = await served.everloop.fork(source, { effects: 'reuse' });
    expect(await fork.result()).toMatchObject({ status: 'success', value: 'done' });
    const again = await served.everloop.fork(
      { run: fork.id, at: { iteration: 3 } },
      { edits: [{ append: 'A secret thought' }], effects: 'run', id: `again-${randomUUID()}` },
    );
    expect(fork.id).toMatch(/^acme:payer-.*-fork-/);
    expect(again.id).toMatch(/^acme:again-/);
    expect(await again.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(paid).toEqual(['b']);
    const transcript = JSON.stringify(await again.transcript());
    expect(transcript).toContain('paid b');
    expect(transcript).toContain('A secret thought');
    await stage.replay(fork, { protection });
    await stage.replay(again, { protection });

    await expect.poll(() => idsOfQueue(), { timeout: 20_000 }).toContain(again.id);
    const ids = await idsOfQueue();
    expect(ids.filter((id) => id.startsWith(`${run.id}/~moment-`))).toHaveLength(1);
    expect(ids.filter((id) => !id.startsWith(`${TENANT}:`))).toEqual([]);
    const { bytes, messages } = await storedRuns(
      stage.client.connection,
      stage.namespace,
      served.taskQueue,
    );
    const keys = new Set<string>();
    addKeyIds(messages, keys);
    expect([...keys]).toEqual([TENANT]);
    for (const secret of [TASK, 'A secret thought', 'paid b']) {
      expect(Buffer.from(bytes).includes(secret)).toBe(false);
    }
  }, 120_000);

  it('cannot be of another tenant, by clients and by workers', async () => {
    const run = await ended('payer', TENANT);
    const source = { run: run.id, at: { iteration: 2 } };
    const id = `globex:${randomUUID()}`;
    await expect(served.everloop.fork(source, { effects: 'run', id })).rejects.toThrow(
      `Expected the id of a fork of tenant \`acme\` to have no \`:\`, or to begin with \`acme:\`, got "${id}". Choose another id.`,
    );
    const fork = { source: { workflowId: run.id }, at: 'start', effects: 'run' };
    for (const tenant of [undefined, 'globex']) {
      const start = { v: 1, agent: 'payer', task: { text: '' }, fork };
      const handle = await stage.client.workflow.start('agent', {
        workflowId: `${tenant === undefined ? '' : `${tenant}:`}${randomUUID()}`,
        taskQueue: served.taskQueue,
        args: [tenant === undefined ? start : { ...start, tenant }],
      });
      const step = await served.everloop.attach(handle.workflowId).result();
      expect(step).toMatchObject({ status: 'error', reason: 'invalid_input' });
      expect(JSON.stringify(step)).not.toContain(TASK);
    }
    expect(paid).toEqual(['b']);
  }, 120_000);
});

describe('a fork of a run with large payloads', () => {
  it('is loaded from blobs, and its own lie under its own id', async () => {
    const run = await ended('reader');
    expect((await run.links()).length).toBeGreaterThan(1);

    // In the first link, and where seven pages are in the state.
    for (const iteration of [2, 8]) {
      const source = { run: run.id, at: { iteration } };
      const fork = await served.everloop.fork(source, { effects: 'run' });
      expect(await fork.result()).toMatchObject({ status: 'success', value: 'read' });
      expect(await blobsOf(fork.id)).not.toEqual([]);
      await stage.replay(fork, { protection });
      if (iteration !== 8) continue;
      expect(await fork.transcript()).toEqual(await run.transcript());
      const again = await served.everloop.fork({ run: fork.id, at: 'latest' });
      expect(await again.result()).toMatchObject({ status: 'success', value: 'read' });
      expect(await blobsOf(again.id)).not.toEqual([]);
    }
  }, 120_000);
});

describe('a run whose histories were saved', () => {
  it('is looked at and forked when the service has forgotten its first links', async () => {
    const run = await ended('reader');
    const before = await run.at({ iteration: 2 });
    const links = await run.links();
    const client = clientOf(stage.client.connection, stage.namespace, protection);
    const archive = createDirectoryArchive(served.archiveDir);
    const events = links.reduce((sum, link) => sum + link.events, 0);
    const saved = { links: links.length, events };
    expect(await saveHistories(client, archive, run.id)).toEqual(saved);
    for (const { executionId } of links.slice(0, -1)) await forget(run.id, executionId);

    // Another worker has seen nothing of it.
    await served.stop();
    served = await stage.serve(agents(), { protection, taskQueue: served.taskQueue, archive });
    expect(await run.at({ iteration: 2 })).toEqual(before);
    expect(before.callsAfter).toHaveLength(6);
    const source = { run: run.id, at: { iteration: 2 } };
    const fork = await served.everloop.fork(source, { effects: 'reuse' });
    expect(await fork.result()).toMatchObject({ status: 'success', value: 'read' });
  }, 120_000);
});

/** Has the service delete a link, as it does when its retention is over. */
async function forget(workflowId: string, runId: string): Promise<void> {
  const { namespace, client } = stage;
  const workflowExecution = { workflowId, runId };
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  await eventually('a forgotten link', () =>
    client.workflow
      .getHandle(workflowId, runId)
      .fetchHistory()
      .then(
        () => false,
        () => true,
      ),
  );
}

async function idsOfQueue(): Promise<readonly string[]> {
  const { executions } = await stage.client.workflowService.listWorkflowExecutions({
    namespace: stage.namespace,
    query: `TaskQueue = '${served.taskQueue}'`,
  });
  return executions.map(({ execution }) => execution?.workflowId ?? '');
}

async function blobsOf(id: string): Promise<readonly string[]> {
  return readdir(join(stage.folder, 'blobs', stage.namespace, id)).catch(() => []);
}
