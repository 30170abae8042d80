/** The last link of a run is archived, so an ended run can be read without a worker. */
import { stat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
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

  await stop();

  expect(await run.events()).toEqual(events);
  expect(await run.transcript()).toEqual(entries);
  expect(await run.transcript({ from: 3 })).toEqual(entries.slice(3));
  expect(hasNoGap(events)).toBe(true);
  const links = bodiesOf(events, 'agent:execution:handover').length + 1;
  expect(links).toBeGreaterThan(1);
  const folder = join(archiveDir, step.runId);
  const files = await readdir(folder);
  // Two pages for each link, and the note whose folder it is.
  expect(files).toHaveLength(2 * links + 1);
  expect(files).toContain('run.json');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
});
