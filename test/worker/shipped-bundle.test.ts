/** When a worker takes the workflow bundle that the package carries. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CACHE_VERSION } from '../../src/worker/bundle/kept-bundle.ts';
import { installedVersions, readShipped } from '../../src/worker/bundle/shipped-bundle.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-shipped-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What is read of a file with `content`. */
async function read(content: unknown): Promise<string | undefined> {
  const file = join(folder, 'workflow-bundle.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readShipped(file);
}

const versions = installedVersions();
const shipped = { v: CACHE_VERSION, versions, code: 'the bundle' };

it('finds the version of each package that goes into a bundle', () => {
  for (const version of Object.values(versions)) expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect(versions['@temporalio/workflow']).toBe(versions['@temporalio/common']);
});

it('is read with the same versions of all packages', async () => {
  expect(await read(shipped)).toBe('the bundle');
});

it.each(Object.keys(versions))('is not read with another version of %s', async (name) => {
  expect(await read({ ...shipped, versions: { ...versions, [name]: '0.0.1' } })).toBeUndefined();
});

it.each([
  ['another format', { ...shipped, v: CACHE_VERSION - 1 }],
  ['no versions', { v: CACHE_VERSION, code: 'the bundle' }],
  ['no code', { v: CACHE_VERSION, versions }],
  ['half a file', JSON.stringify(shipped).slice(0, -10)],
])('is not read with %s', async (_what, content) => {
  expect(await read(content)).toBeUndefined();
});

it('is not there in the sources', async () => {
  expect(await readShipped()).toBeUndefined();
});
