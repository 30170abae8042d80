/** `everloop gc` and `everloop forget`, and the hourly collection, on a real service. */
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { folderOf } from '../../src/protection/blobs/blob-names.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { collectOnce } from '../../src/worker/retention/collect-hourly.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer, gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { cli } from './cli-fixture.ts';

let stage: Stage;
let root: string;
let env: Record<string, string>;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  root = join(stage.folder, 'blobs');
  env = {
    TEMPORAL_ADDRESS: stage.address,
    TEMPORAL_NAMESPACE: stage.namespace,
    EVERLOOP_BLOBS: `dir:${root}`,
    EVERLOOP_DATA_DIR: stage.folder,
  };
});
afterAll(() => stage?.close());

const LARGE = 'x'.repeat(400_000);

const foldersLeft = async (): Promise<readonly string[]> =>
  readdir(join(root, folderOf(stage.namespace)));

/** Makes all blobs of a run look as if they were stored in 2001. */
async function age(id: string): Promise<void> {
  const folder = join(root, folderOf(stage.namespace), folderOf(id));
  for (const name of await readdir(folder)) await utimes(join(folder, name), 1e9, 1e9);
}

/** A page of a run that was archived in 2001. */
async function archiveOldPage(directory: string, workflowId: string): Promise<void> {
  const { runId } = await stage.client.workflow.getHandle(workflowId).describe();
  const run = { namespace: stage.namespace, workflowId };
  const link = { runId, link: 1, kind: 'pages', firstEntry: 0, firstEvent: 0, run } as const;
  await createDirectoryArchive(directory).write(link, [{ list: 'events', items: ['said'] }]);
  const folder = join(directory, runId);
  for (const name of await readdir(folder)) await utimes(join(folder, name), 1e9, 1e9);
}

it.runIf(RUNS_ALL)(
  'keeps blobs of runs that the service knows, and deletes those of the others',
  async () => {
    const store = directoryBlobs(root);
    const protection = protectionOf({ blobs: store });
    const mayAnswer = gate();
    const child = defineAgent({
      name: 'child',
      description: 'Works.',
      mode: 'text',
      model: { id: 'c', model: async () => 'done' },
    });
    const { everloop, taskQueue } = await stage.serve(
      [
        child,
        defineAgent({
          name: 'parent',
          mode: 'react',
          model: {
            id: 'p',
            model: async ({ iteration }) => {
              if (iteration > 1) await mayAnswer.opened;
              return iteration === 1
                ? `<action>\n- tool: child\n  args:\n    task: Work\n</action>`
                : answer('read');
            },
          },
          tools: [agentTool({ agent: child })],
          limits: 'unlimited',
        }),
      ],
      { protection },
    );
    const context = { document: LARGE };
    const open = await everloop.start('parent', { task: 'Go', context });
    const closed = await everloop.start('child', { task: 'Go', context });
    await closed.result();
    await store.driver.store(
      { target: { kind: 'workflow', namespace: stage.namespace, id: 'orphan' } },
      [{ metadata: {}, data: Buffer.from(LARGE) }],
    );
    await eventually('the blobs', async () => (await foldersLeft()).length >= 3);
    for (const id of [open.id, closed.id, 'orphan']) await age(id);
    const all = await foldersLeft();

    const { client } = stage;
    const directory = join(stage.folder, 'archive');
    for (const { id } of [open, closed]) await archiveOldPage(directory, id);

    const keep = { ...env, EVERLOOP_ARCHIVE_KEEP: '90d' };
    const dry = await cli(['gc', '--dry-run', '--json'], { env: keep });
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dryRun: true,
      runs: [{ workflowId: 'orphan', blobs: 1 }],
      archived: [{ workflowId: closed.id }],
    });
    expect(await foldersLeft()).toEqual(all);
    const early = await cli(['gc', '--older-than', '5m'], { env });
    expect(early.stderr).toContain('Expected `--older-than` to be at least 1h, got `5m`.');

    const lines: string[] = [];
    const log = (_level: string, message: string): void => void lines.push(message);
    const archive = { directory, keepMs: 90 * 86_400_000 };
    await Promise.all([1, 2].map(() => collectOnce({ client, store, archive, log })));
    expect(new Set(lines)).toEqual(
      new Set([
        `Deleted 400004 bytes of 1 runs in ${store.place}: blobs of forgotten runs.`,
        expect.stringMatching(
          /^Deleted \d+ bytes of 1 runs in .+: archived pages of ended runs\.$/,
        ),
      ]),
    );
    expect(lines).toHaveLength(2);
    const { runId } = await client.workflow.getHandle(open.id).describe();
    expect(new Set(await readdir(directory))).toEqual(new Set([runId, 'gc.lease']));
    expect(await foldersLeft()).toEqual(all.filter((name) => name !== 'orphan'));

    const refused = await cli(['forget', open.id, '--yes'], { env });
    expect(refused.stderr).toContain(
      `Expected run \`${open.id}\` to have ended, got one that is alive.`,
    );
    const unsure = await cli(['forget', closed.id], { env });
    expect(unsure.stderr).toContain('Expected `--yes` to delete run');

    mayAnswer.open();
    expect(await open.result()).toMatchObject({ status: 'success', value: 'read' });
    expect(await open.tree()).toHaveLength(2);
    const handle = client.workflow.getHandle(open.id);
    await eventually('the list to have both runs', async () => {
      const { count } = await client.workflow.count(
        `WorkflowId STARTS_WITH '${open.id}' AND ExecutionStatus = 'Completed'`,
      );
      return count >= 2;
    });
    const gone = await cli(['forget', open.id, '--yes', '--json'], { env });
    expect(JSON.parse(gone.stdout)).toMatchObject({ executions: 2 });
    expect(await readdir(directory)).toEqual(['gc.lease']);
    expect(await foldersLeft()).toEqual([folderOf(closed.id)]);
    await eventually('the service to forget', async () => {
      const known = await handle.describe().catch(() => null);
      return known === null;
    });
    // Another run is untouched.
    expect(
      (await stage.everloopOf(taskQueue, undefined, protection).attach(closed.id).startedWith())
        .context,
    ).toMatchObject(context);
  },
);
