/** docs/inspecting.md: its code is that of examples which run here, against a real server. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readPages } from '../../examples/docs/inspecting.ts';
import { connect } from '../../src/client/connect.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

test('docs/inspecting.md quotes its examples', () => {
  expect(blocksOf('inspecting')).toEqual(regionsOf('inspecting'));
});

test('an ended run is read by pages, without a worker, from the archive in the data folder [R15]', async () => {
  const agent = defineAgent({
    name: 'clerk',
    mode: 'text',
    model: { id: 'm', model: async () => 'Done.' },
  });
  const { everloop, archiveDir, stop } = await stage.serve([agent]);
  const run = await everloop.start('clerk', { task: 'Go' });
  const step = await run.result();
  const events = await run.events();
  await stop();
  const dataDir = join(stage.folder, 'data');
  await mkdir(dataDir);
  await symlink(archiveDir, join(dataDir, 'archive'));
  const { address, namespace } = stage;
  const other = await connect({ address, namespace, dataDir, env: {} });

  try {
    const shown: AgentEvent[] = [];
    await readPages(other, run.id, (page) => shown.push(...page));

    expect(shown).toEqual(events);
    expect(await other.attach(run.id).stats()).toEqual(step.stats);
  } finally {
    await other.close();
  }
});
