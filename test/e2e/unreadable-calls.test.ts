/** Calls whose arguments a worker cannot read, for want of a key or of the blob store, wait for another. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { eventually } from '../support/eventually.ts';
import { actWith, answer, bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** Calls a tool once, with arguments of 6 KB. */
const reader = defineAgent({
  name: 'reader',
  mode: 'react',
  model: {
    id: 'm',
    model: async ({ iteration }) =>
      iteration === 1 ? actWith(['measure', 'q'.repeat(6_000)]) : answer(),
  },
  tools: [
    defineTool({
      name: 'measure',
      description: 'Counts letters.',
      effect: 'once',
      parameters: z.object({ query: z.string() }),
      execute: ({ query }) => query.length,
    }),
  ],
  limits: 'unlimited',
});

it.each([
  ['key k1', () => ({ keys: keyRing({ current: 'k1', keys: { k1: randomBytes(32) } }) })],
  ['the blobs of the run', () => ({ blobs: directoryBlobs(join(stage.folder, 'blobs')) })],
] as const)('[R4] a call waits for a worker with %s', async (what, optionsOf) => {
  const protection = protectionOf(optionsOf());
  const taskQueue = `unreadable-${randomUUID()}`;
  const toolQueue = `${taskQueue}-tools`;
  const roles = ['workflows', 'models'] as const;
  const queues = { taskQueue, toolQueue, roles, elsewhereMs: 120_000 };
  const { everloop } = await stage.serve([reader], { ...queues, protection });
  const tools = { taskQueue: toolQueue, roles: ['tools'] as const };
  const poor = await stage.serve([reader], tools);
  const run = await everloop.start('reader', { task: 'Go' });
  await eventually('a wait', async () =>
    (await run.status()).waitsFor.includes(`worker with ${what}`),
  );
  await poor.stop();
  await stage.serve([reader], { ...tools, protection });

  expect(await run.result()).toMatchObject({ status: 'success' });
  const ends = bodiesOf(await run.events(), 'agent:tool_call:after');
  expect(ends).toMatchObject([{ outcome: 'ok', attempts: 1, output: 6_000 }]);
});
