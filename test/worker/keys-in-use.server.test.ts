import { randomUUID } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { keysInUse } from '../../src/worker/retention/keys-in-use.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

it('keys of earlier links are in use, because readers without the archive ask those', async () => {
  const { workflowService } = stage.client;
  const place = { namespace: stage.namespace, identity: 'test' };
  const queue = { name: `keys-${randomUUID()}` };
  const type = { name: 'agent' };
  const workflowId = randomUUID();
  await workflowService.startWorkflowExecution({
    ...place,
    workflowId,
    requestId: randomUUID(),
    workflowType: type,
    taskQueue: queue,
    input: await inputOf('k1'),
  });
  for (const id of ['k2', 'k3']) {
    const { taskToken } = await stage.client.withDeadline(Date.now() + 30_000, () =>
      workflowService.pollWorkflowTaskQueue({ ...place, taskQueue: queue }),
    );
    const attributes = { workflowType: type, taskQueue: queue, input: await inputOf(id) };
    await workflowService.respondWorkflowTaskCompleted({
      ...place,
      taskToken,
      commands: [
        {
          commandType: CONTINUE_AS_NEW,
          continueAsNewWorkflowExecutionCommandAttributes: attributes,
        },
      ],
    });
  }

  // A list may have a link for a moment after its end.
  await eventually('each key in use by one run', async () => {
    const places = { client: stage.client, archiveDir: stage.folder, blobs: undefined };
    const used = await keysInUse(places, []);
    return (
      used
        .map(({ id, openRuns }) => `${id} ${openRuns}`)
        .filter((line) => line.startsWith(OWN))
        .join() === ['k1', 'k2', 'k3'].map((id) => `${OWN}${id} 1`).join()
    );
  });
  await stage.client.workflow.getHandle(workflowId).terminate();
});

/** Other tests have runs in the same namespace. */
const OWN = `${randomUUID()}/`;

/** `COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION` */
const CONTINUE_AS_NEW = 10;

async function inputOf(name: string): Promise<{ readonly payloads: Payload[] }> {
  const id = `${OWN}${name}`;
  const { codec } = protectionOf({
    keys: keyRing({ current: id, keys: { [id]: Buffer.alloc(32, 1) } }),
  });
  const encoding = Buffer.from('json/plain');
  return { payloads: await codec.encode([{ metadata: { encoding }, data: Buffer.from('1') }]) };
}
