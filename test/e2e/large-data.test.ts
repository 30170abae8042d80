/** Runs that hold more than the service takes: large payloads lie in a folder of blobs. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { folderOf } from '../../src/protection/blobs/blob-names.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { s3Blobs } from '../../src/protection/blobs/s3-blobs.ts';
import { protectionOf, type Protection } from '../../src/protection/protection.ts';
import { forgetRun } from '../../src/worker/retention/forget-run.ts';
import type { DoctorFinding } from '../../src/doctor/run-doctor.ts';
import { doctorService } from '../../src/doctor/service.ts';
import { found, world } from '../doctor/world.ts';
import { openTestBucket } from '../support/bucket.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { pageReader } from '../support/page-reader.ts';
import { act, answer, gate, searchTool, type Gate } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let protection: Protection;
beforeAll(async () => {
  stage = await openHandoverStage(30);
  protection = protectionOf({ blobs: directoryBlobs(join(stage.folder, 'blobs')) });
});
afterAll(() => stage?.close());

const MB_3 = 'x'.repeat(3_000_000);
const KB_400 = 'eHh4'.repeat(100_000);

/** The second is no larger than a history takes, and is stored all the same. */
const PAGES: Readonly<Record<string, string>> = {
  'page 1': 'y'.repeat(2_500_000),
  'page 2': 'z'.repeat(5_000),
};

/** What the doctor says of a run. */
async function failingRuns(id: string): Promise<readonly DoctorFinding[]> {
  const service = doctorService(stage.client);
  const findings = await found('failing-tasks', world({ service }));
  return findings.filter(({ message }) => message.includes(id));
}

/** Waits, reads two documents, and goes on for some turns. */
function reader(mayGoOn: Gate, iterations = 8): AgentDefinition {
  return pageReader({
    iterations,
    before: async (iteration) => {
      if (iteration === 1) await mayGoOn.opened;
    },
    page: (query) => PAGES[query] ?? 'a page',
  });
}

/** Whether a workflow task of the run has failed, so that the run waits. */
const hasFailed = ({ raw }: WorkflowExecutionDescription): boolean =>
  (raw.pendingWorkflowTask?.attempt ?? 0) > 1;

const blobsOf = async (id: string): Promise<readonly string[]> =>
  readdir(join(stage.folder, 'blobs', stage.namespace, id)).catch(() => []);

describe('a run with 3 MB of context', () => {
  it('starts, hands over, answers queries and is read back whole', async () => {
    const mayGoOn = gate();
    const { everloop } = await stage.serve([reader(mayGoOn)], { protection });
    const run = await everloop.start('reader', { task: 'Read', context: { document: MB_3 } });
    mayGoOn.open();

    expect(await run.result()).toMatchObject({ status: 'success', value: 'read' });

    const { context } = await run.startedWith();
    expect(context).toMatchObject({ document: MB_3 });
    const transcript = await run.transcript();
    expect(JSON.stringify(transcript)).toContain('y'.repeat(2_500_000));
    const events = await run.events();
    expect(events.filter(({ type }) => type === 'agent:execution:handover').length).toBeGreaterThan(
      0,
    );
    // The start, two results of the tool, and each hand-over; no page of a query.
    const folder = join(stage.folder, 'blobs', stage.namespace, run.id);
    const files = await Promise.all(
      (await blobsOf(run.id)).map(async (name) => (await stat(join(folder, name))).size),
    );
    expect(files.length).toBeGreaterThanOrEqual(4);
    expect(files.filter((bytes) => bytes < 262_144)).toEqual([
      expect.toSatisfy((bytes: number) => bytes > 5_000 && bytes < 6_000),
    ]);
    await stage.replay(run, { protection });
  });

  it.runIf(RUNS_ALL)(
    'does the same with a bucket, waits while it is silent, and is forgotten',
    async () => {
      const bucket = await openTestBucket();
      try {
        const store = s3Blobs(bucket.place, bucket.options);
        const mayGoOn = gate();
        const { everloop } = await stage.serve([reader(mayGoOn, 4)], {
          protection: protectionOf({ blobs: store }),
        });
        const run = await everloop.start('reader', { task: 'Read', context: { document: MB_3 } });
        bucket.be('unavailable');
        mayGoOn.open();
        const before = bucket.requests.length;
        await eventually('a result that the bucket does not take', async () =>
          bucket.requests.slice(before).some((request) => request.startsWith('PUT')),
        );
        bucket.be('well');

        expect(await run.result()).toMatchObject({ status: 'success', value: 'read' });
        // Another process reads all of it from the bucket.
        const other = protectionOf({ blobs: s3Blobs(bucket.place, bucket.options) });
        await stage.replay(run, { protection: other });
        const stored = async (): Promise<readonly string[]> => {
          const ids: string[] = [];
          for await (const { workflowId = '' } of store.runs(stage.namespace)) ids.push(workflowId);
          return ids;
        };
        expect(await stored()).toEqual([run.id]);
        const places = { client: stage.client, archiveDir: stage.folder, blobs: store };
        const { blobs } = await forgetRun(places, run.id);
        expect(blobs).toBeGreaterThanOrEqual(3);
        expect(await stored()).toEqual([]);
      } finally {
        await bucket.close();
      }
    },
  );

  it('waits on a worker without the store, and goes on where it is', async () => {
    const opened = gate();
    opened.open();
    const taskQueue = `large-${Date.now()}`;
    const agents = [reader(opened, 2)];
    const poor = await stage.serve(agents, { taskQueue });
    const everloop = stage.everloopOf(taskQueue, undefined, protection);
    const run = await everloop.start('reader', { task: 'Read', context: { document: MB_3 } });

    const { client } = stage;
    await eventually('a failed task', () =>
      client.workflow.getHandle(run.id).describe().then(hasFailed),
    );
    expect(await failingRuns(run.id)).toMatchObject([
      {
        message: expect.stringContaining('TMPRL1105') as string,
        advice: 'Give its workers the blob store that the run was written to: EVERLOOP_BLOBS.',
      },
    ]);
    await poor.stop();
    await stage.serve(agents, { taskQueue, protection });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'read' });
  });

  it.runIf(RUNS_ALL)('waits while its blobs are gone, and goes on when they are back', async () => {
    const opened = gate();
    opened.open();
    const taskQueue = `gone-${Date.now()}`;
    const everloop = stage.everloopOf(taskQueue, undefined, protection);
    const run = await everloop.start('reader', { task: 'Read', context: { document: MB_3 } });
    const folder = join(stage.folder, 'blobs', stage.namespace, run.id);
    await rename(folder, `${folder}-away`);
    await stage.serve([reader(opened, 2)], { taskQueue, protection });

    await eventually('a failed task', () =>
      stage.client.workflow.getHandle(run.id).describe().then(hasFailed),
    );
    expect(await failingRuns(run.id)).toMatchObject([
      {
        message: expect.stringMatching(/: Expected blob `\S+` in `dir:\S+`, got none\./) as string,
        advice: 'Bring back what the store lacks; the run goes on by itself then.',
      },
    ]);
    await rename(`${folder}-away`, folder);

    expect(await run.result()).toMatchObject({ status: 'success', value: 'read' });
  });

  it('is known to each turn of a conversation that another process resumes, as media', async () => {
    const seen: boolean[] = [];
    const { everloop } = await stage.serve(
      [
        defineAgent({
          name: 'chat',
          mode: 'react',
          model: {
            id: 'm',
            model: async ({ messages }) => {
              seen.push(messages.some((one) => JSON.stringify(one).includes(KB_400)));
              return answer('hello');
            },
          },
          limits: 'unlimited',
        }),
      ],
      { protection },
    );
    const first = everloop.conversation('chat', { id: 'large' });
    const media = [{ type: 'media', mediaType: 'image/png', data: KB_400 }] as const;
    await (await first.say({ text: 'Hello', media })).result();

    const resumed = everloop.conversation('chat', { id: 'large' });
    const next = await resumed.say('And again');
    expect(await next.result()).toMatchObject({ status: 'success' });

    expect(seen).toEqual([true, true]);
    expect(await resumed.turns()).toHaveLength(2);
  });

  it('is refused by a client without the store, which says what it lacks', async () => {
    const opened = gate();
    opened.open();
    const { everloop, taskQueue } = await stage.serve([reader(opened, 2)], { protection });
    const run = await everloop.start('reader', { task: 'Read', context: { document: MB_3 } });
    await run.result();

    const poor = stage.everloopOf(taskQueue);
    await expect(poor.start('reader', { context: { document: MB_3 } })).rejects.toThrow(
      /^Expected a start of at most 1500000 bytes/,
    );
    await expect(poor.attach(run.id).startedWith()).rejects.toMatchObject({
      code: 'no_blobs',
      message: `Expected the blob store that holds data of run \`${run.id}\`, got none. Set EVERLOOP_BLOBS.`,
    });
  });

  it('does not begin to serve with a store that it cannot write', async () => {
    const file = join(stage.folder, 'a-file');
    await writeFile(file, '');
    await expect(
      stage.serve([reader(gate())], {
        protection: protectionOf({ blobs: directoryBlobs(join(file, 'blobs')) }),
      }),
    ).rejects.toMatchObject({ code: 'blob_store' });
  });

  it('does not begin to serve with the store of another service', async () => {
    const blobs = directoryBlobs(join(stage.folder, 'of-another'));
    await blobs.own(stage.namespace, 'another');
    await expect(
      stage.serve([reader(gate())], { protection: protectionOf({ blobs }) }),
    ).rejects.toMatchObject({
      code: 'blob_store',
      message: `Expected blob store \`${blobs.place}\` to be of namespace \`${stage.namespace}\` of this service, got that of another service. Name another store; if the other service is gone, remove \`${stage.namespace}.owner\` from this one.`,
    });
  });
});

describe('a child that was continued and has ended', () => {
  it('is not forgotten while its parent is open, which replays from its blobs', async () => {
    const child = defineAgent({
      name: 'child',
      description: 'Writes.',
      mode: 'react',
      model: {
        id: 'c',
        model: async ({ iteration }) => (iteration < 8 ? act('x') : answer('y'.repeat(300_000))),
      },
      tools: [searchTool()],
      limits: 'unlimited',
    });
    const mayEnd = gate();
    const parent = defineAgent({
      name: 'parent',
      mode: 'react',
      model: {
        id: 'm',
        model: async ({ iteration }) => {
          if (iteration > 1) await mayEnd.opened;
          return iteration > 1
            ? answer()
            : '<action>\n- tool: child\n  args:\n    task: Go\n</action>';
        },
      },
      tools: [agentTool({ agent: child })],
      limits: 'unlimited',
    });
    const { everloop } = await stage.serve([parent, child], { protection });
    const run = await everloop.start('parent', { task: 'Go' });
    const { id } = await eventually('the end of the child', async () =>
      (await run.tree()).find((each) => each.id !== run.id && each.state === 'ended'),
    );
    const stored = await blobsOf(folderOf(id));
    expect(stored.length).toBeGreaterThan(0);

    const places = {
      client: stage.client,
      archiveDir: join(stage.folder, 'archive'),
      blobs: protection.blobs,
    };
    await expect(forgetRun(places, id)).rejects.toMatchObject({
      code: 'run_open',
      message: `Expected run \`${run.id}\` above \`${id}\` to have ended, because it reads the data of runs below it, got one that is alive. When it has ended, delete all of it: everloop forget ${run.id}`,
    });
    expect(await blobsOf(folderOf(id))).toEqual(stored);
    await stage.replay(run, { protection });
    mayEnd.open();
    expect(await run.result()).toMatchObject({ status: 'success' });
    expect(
      (await everloop.attach(id).events()).some(({ type }) => type === 'agent:execution:handover'),
    ).toBe(true);
    await forgetRun(places, run.id);
    expect(await blobsOf(folderOf(id))).toEqual([]);
  });
});
