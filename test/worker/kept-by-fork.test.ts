/** What a fork shows of its source stays while the service has the fork, and no longer. */
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectBlobs, type KnownRuns } from '../../src/protection/blobs/collect-blobs.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { notedForks } from '../../src/worker/files/fork-notes.ts';
import { collectArchive, type OpenRuns } from '../../src/worker/retention/collect-archive.ts';
import { forkKeeping, knownWithForks } from '../../src/worker/retention/kept-by-fork.ts';

const DAY = 86_400_000;
const NAMESPACE = 'default';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'everloop-forks-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** The first execution of a run. */
const first = (workflowId: string): string => `of-${workflowId}`;

/** Archives a page of a run, as if it had been 100 days ago. */
async function archived(workflowId: string): Promise<void> {
  const run = { namespace: NAMESPACE, workflowId };
  const place = { link: 1, kind: 'pages', firstEntry: 0, firstEvent: 0, run } as const;
  const link = { runId: first(workflowId), ...place };
  await createDirectoryArchive(directory).write(link, [
    { list: 'events', items: [{ text: 'said' }] },
  ]);
  const at = (Date.now() - 100 * DAY) / 1_000;
  for (const name of await readdir(join(directory, link.runId))) {
    await utimes(join(directory, link.runId, name), at, at);
  }
}

/** Notes, as a worker does, that `fork` was made from `source`. */
async function forked(source: string, fork: string): Promise<void> {
  const run = { namespace: NAMESPACE, workflowId: source };
  const made = { workflowId: fork, runId: first(fork) };
  await createDirectoryArchive(directory).noteFork?.({ runId: first(source), run }, made);
}

/** A service that has these runs, all closed; `ids` maps an id to its first execution. */
function serviceWith(ids: Readonly<Record<string, string>>): OpenRuns & KnownRuns {
  return {
    isOpen: async () => false,
    isRetained: async (id, runId) => ids[id] === runId,
    isKnown: async (id) => ids[id] !== undefined,
    hasRunsFrom: async () => false,
    hasOpenFrom: async () => false,
  };
}

async function collected(service: OpenRuns, dryRun = false): Promise<readonly string[]> {
  const gone: string[] = [];
  const parts = { directory, namespace: NAMESPACE, open: service, keepMs: 90 * DAY, dryRun };
  for await (const { workflowId } of collectArchive(parts)) gone.push(workflowId);
  return gone.toSorted((left, right) => left.localeCompare(right));
}

describe('archived pages of a source', () => {
  it('stay while the service has a fork of it, or a fork of a fork', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await archived(id);
    await forked('a', 'b');
    await forked('b', 'c');

    expect(await collected(serviceWith({ b: first('b') }), true)).toEqual(['b', 'c', 'd']);
    expect(await collected(serviceWith({ c: first('c') }), true)).toEqual(['c', 'd']);
    expect(await collected(serviceWith({}))).toEqual(['a', 'b', 'c', 'd']);
    expect(await readdir(directory)).toEqual([]);
  });

  it('do not stay for another run under the id of a fork that is gone', async () => {
    await archived('a');
    await forked('a', 'b');
    expect(await collected(serviceWith({ b: 'of-a-later-b' }))).toEqual(['a']);
  });

  it('stay no longer for forks that name each other, or for a note that cannot be read', async () => {
    for (const id of ['a', 'b']) await archived(id);
    await forked('a', 'b');
    await forked('b', 'a');
    await writeFile(join(directory, first('a'), 'fork-x.json'), '{');
    expect(await notedForks(join(directory, first('a')))).toHaveLength(1);
    expect(await collected(serviceWith({}))).toEqual(['a', 'b']);
    expect(await readdir(directory)).toEqual([]);
  });

  it('stay when the service does not answer', async () => {
    await archived('a');
    await forked('a', 'b');
    const silent = {
      ...serviceWith({}),
      isRetained: () => Promise.reject(new Error('unavailable')),
    };
    await expect(collected(silent)).rejects.toThrow('unavailable');
    expect(await readdir(directory)).toEqual([first('a')]);
  });
});

it('blobs of a source stay while the service has a fork of it, by the runs of its archive', async () => {
  for (const id of ['a', 'd']) await archived(id);
  await forked('a', 'b');
  const removed: string[] = [];
  const store = {
    runs: async function* () {
      for (const workflowId of ['a', 'd']) yield { workflowId, newestAt: 0, blobs: 1, bytes: 9 };
    },
    remove: async (_namespace: string, workflowId: string) => {
      removed.push(workflowId);
      return { blobs: 1, bytes: 9 };
    },
  };
  const service = serviceWith({ b: first('b') });
  const known = knownWithForks(service, { directory, namespace: NAMESPACE });
  const other = knownWithForks(service, { directory, namespace: 'other' });
  const collection = { store, namespace: NAMESPACE, olderThanMs: 0 };
  for await (const _run of collectBlobs({ ...collection, known })) void _run;
  expect(removed).toEqual(['d']);
  for await (const _run of collectBlobs({ ...collection, known: other })) void _run;
  expect(removed).toEqual(['d', 'a', 'd']);
});

it('a fork within what is deleted with its source keeps nothing', async () => {
  await archived('a');
  await forked('a', 'a/1.1');
  const service = serviceWith({ 'a/1.1': first('a/1.1') });
  const source = { directory, runId: first('a') };
  expect(await forkKeeping(source, service)).toBe('a/1.1');
  expect(await forkKeeping(source, service, ['a', 'a/1.1'])).toBeUndefined();
});
