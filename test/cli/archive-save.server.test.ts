/** `everloop archive save` on a real service: what it writes, and what it refuses. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { payer } from '../support/fork-agents.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { cli, type CliResult } from './cli-fixture.ts';

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([payer()]);
});
afterAll(() => stage?.close());

function save(dataDir: string, keys: Record<string, string>, ...ids: string[]): Promise<CliResult> {
  const { address, namespace } = stage;
  const env = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    EVERLOOP_DATA_DIR: dataDir,
    ...keys,
  };
  return cli(['--json', 'archive', 'save', ...ids], { cwd: stage.folder, env });
}

/** What the folders of archived runs hold, as text. */
async function writtenBelow(dataDir: string): Promise<string> {
  const found = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

it('saves histories of runs, says so each time, and encrypts them with keys', async () => {
  const first = await served.everloop.start('payer', { task: 'Pay in violet ink' });
  const second = await served.everloop.start('payer', { task: 'Pay in green ink' });
  await Promise.all([first.result(), second.result()]);
  const plain = join(stage.folder, 'plain');
  const { exitCode, stdout } = await save(plain, {}, first.id, second.id);

  expect(exitCode).toBe(0);
  const { saved } = JSON.parse(stdout) as { readonly saved: readonly object[] };
  expect(saved).toEqual(
    [first, second].map(({ id }) => ({ id, links: 1, events: expect.any(Number) as number })),
  );
  expect(await writtenBelow(plain)).toContain(`"workflowId":"${first.id}"`);
  expect((await save(plain, {}, first.id, second.id)).stdout).toBe(stdout);

  const sealed = join(stage.folder, 'sealed');
  const keys = { EVERLOOP_KEYS: `k1=${randomBytes(32).toString('base64')}` };
  expect(await save(sealed, keys, first.id)).toMatchObject({ exitCode: 0 });
  expect(await writtenBelow(sealed)).not.toContain('WORKFLOW_EXECUTION_STARTED');
});

it('says that a run is not there, and how it is called', async () => {
  const missing = await save(join(stage.folder, 'none'), {}, 'never-was');
  expect(missing).toMatchObject({ exitCode: 2 });
  expect(missing.stderr).toContain('never-was');

  expect(await save(join(stage.folder, 'none'), {})).toMatchObject({ exitCode: 2 });
});
