/** The last link of a run is archived, so an ended run can be read without a worker. */
import { stat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer, bodiesOf, GARBAGE, hasNoGap } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(30);
});
afterAll(() => stage.close());

it('[R15] the last link of a run is archived too, for this user alone [R16]', async () => {
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    onUnparsed: 'retry',
    limits: 'unlimited',
    model: { id: 'm', model: async ({ iteration }) => (iteration < 20 ? GARBAGE : answer()) },
  });
  const { everloop, archiveDir, stop } = await stage.serve([agent]);
  const run = await everloop.start('tester', { task: 'Go' });
  const step = await run.result();
  const [events, entries] = [await run.events(), await run.transcript()];
  expect(await run.status()).toMatchObject({ events: events.length, entries: entries.length });

  await stop();

  expect(await run.events()).toEqual(events);
  expect(await run.transcript()).toEqual(entries);
  expect(await run.transcript({ from: 3 })).toEqual(entries.slice(3));
  expect(await run.events({ from: 17, limit: 40 })).toEqual(events.slice(17, 57));
  expect(await run.transcript({ from: entries.length - 1, limit: 9 })).toEqual(entries.slice(-1));
  expect(await run.events({ from: events.length, limit: 1 })).toEqual([]);
  expect(hasNoGap(events)).toBe(true);
  const links = bodiesOf(events, 'agent:execution:handover').length + 1;
  expect(links).toBeGreaterThan(1);
  const folder = join(archiveDir, step.runId);
  const files = await readdir(folder);
  // One file for each link, with the state that each hand-over carried.
  expect(files).toHaveLength(links);
  const archive = createDirectoryArchive(archiveDir);
  expect(await archive.read(step.runId, 'states', 0, links)).toHaveLength(links - 1);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);

  // The Step says what a worker would replay the link for.
  const status = await run.status();
  expect(status).toMatchObject({ state: 'ended', link: links, iteration: 20, waitsFor: [] });
  expect(status.version).toBe(events.length);
  expect(status.step).toEqual(step);
  expect(await run.stats()).toEqual(step.stats);
  expect(await run.pending()).toEqual([]);
});

it.runIf(RUNS_ALL)(
  '[R15] without an archive, a client reads each page of a closed link once',
  async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      onUnparsed: 'retry',
      limits: 'unlimited',
      model: { id: 'm', model: async ({ iteration }) => (iteration < 12 ? GARBAGE : answer()) },
    });
    const { everloop } = await stage.serve([agent], { readArchive: false });
    const run = await everloop.start('tester', { task: 'Go' });
    await run.result();
    const queries = vi.spyOn(stage.client.workflowService, 'queryWorkflow');
    try {
      const middle = await run.events({ from: 20, limit: 30 });
      const asked = queries.mock.calls.length;
      expect(asked).toBeGreaterThan(0);

      expect(await run.events({ from: 25, limit: 5 })).toEqual(middle.slice(5, 10));
      expect(queries.mock.calls.length).toBe(asked);
      const events = await run.events();
      const total = queries.mock.calls.length;
      expect(events.slice(20, 50)).toEqual(middle);
      expect(hasNoGap(events)).toBe(true);
      await run.events();
      await run.status();
      await run.stats();
      // The service refuses the last two without a worker.
      expect(queries.mock.calls.length).toBe(total + 2);
    } finally {
      queries.mockRestore();
    }
  },
);
