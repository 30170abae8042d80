/** Archived pages go a time after their run has ended, and never while one may need them. */
import fc from 'fast-check';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArchivedLink } from '../../src/activities/archive-transcript.ts';
import { archivedRuns } from '../../src/worker/files/archived-runs.ts';
import { runLine } from '../../src/client/reading/archive-file.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { keepMsOf, checkedKeepMs } from '../../src/worker/retention/archive-keep.ts';
import { collectArchive, type OpenRuns } from '../../src/worker/retention/collect-archive.ts';
import { extent } from '../support/extent.ts';

const DAY = 86_400_000;
const KEEP = 90 * DAY;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'everloop-archive-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Archives a page of a run, as if it had been `days` ago. */
async function archived(
  workflowId: string,
  days: number,
  runId = `of-${workflowId}`,
): Promise<void> {
  const link: ArchivedLink = {
    runId: runId.replaceAll('/', '_'),
    link: 1,
    kind: 'pages',
    firstEntry: 0,
    firstEvent: 0,
    run: { namespace: 'default', workflowId },
  };
  await createDirectoryArchive(directory).write(link, [
    { list: 'events', items: [{ text: 'said' }] },
  ]);
  await age(link.runId, days);
}

async function age(folder: string, days: number): Promise<void> {
  const at = (Date.now() - days * DAY) / 1_000;
  for (const name of await readdir(join(directory, folder))) {
    await utimes(join(directory, folder, name), at, at);
  }
}

/** A service where these runs are open; each has the first execution that {@link archived} gives it. */
const openRuns = (...ids: readonly string[]): OpenRuns => ({
  isRetained: async () => false,
  isOpen: async (id, first) =>
    ids.includes(id) && (first === undefined || first === `of-${id}`.replaceAll('/', '_')),
  hasOpenFrom: async (start) => ids.some((id) => id.startsWith(start)),
});

async function collected(open: OpenRuns, dryRun = false): Promise<readonly string[]> {
  const gone: string[] = [];
  const parts = { directory, namespace: 'default', open, keepMs: KEEP, dryRun };
  for await (const { workflowId, bytes } of collectArchive(parts)) {
    expect(bytes).toBeGreaterThan(0);
    gone.push(workflowId);
  }
  return gone.toSorted((left, right) => left.localeCompare(right));
}

describe('a collection of the archive', () => {
  it('takes pages of runs that ended long ago, and keeps all others', async () => {
    await archived('ended', 91);
    await archived('recent', 89);
    await archived('open', 400);
    await archived('open/1', 400);
    await archived('again', 400, 'an-earlier-run');
    const open = openRuns('open', 'again');

    expect(await collected(open, true)).toEqual(['again', 'ended']);
    expect(await readdir(directory)).toHaveLength(5);
    expect(await collected(open)).toEqual(['again', 'ended']);
    expect(new Set(await readdir(directory))).toEqual(
      new Set(['of-recent', 'of-open', 'of-open_1']),
    );
    expect(await collected(openRuns())).toEqual(['open', 'open/1']);
  });

  it('leaves folders alone that say of no run, or of another namespace', async () => {
    for (const name of ['old', 'broken', 'other']) await mkdir(join(directory, name));
    await writeFile(join(directory, 'old', '000001-0-0.jsonl'), '{}\n');
    await writeFile(join(directory, 'broken', '000001-0-0.jsonl'), '{"run":');
    const whose = runLine({ namespace: 'other', workflowId: 'a' });
    await writeFile(join(directory, 'other', '000001-0-0.jsonl'), `${whose}\n`);
    for (const name of ['old', 'broken', 'other']) await age(name, 1_000);

    expect(await collected(openRuns())).toEqual([]);
    expect(await readdir(directory)).toHaveLength(3);
  });

  it('deletes nothing more once the service does not answer', async () => {
    await archived('a', 100);
    const open: OpenRuns = {
      ...openRuns(),
      isOpen: () => Promise.reject(new Error('unavailable')),
    };
    await expect(collected(open)).rejects.toThrow('unavailable');
    expect(await readdir(directory)).toEqual(['of-a']);
  });

  it('keeps what is written in the middle of it', async () => {
    await archived('a', 100);
    const open: OpenRuns = {
      ...openRuns(),
      // The run is reset, writes a page, and only then the answer comes.
      isOpen: async () => {
        await writeFile(join(directory, 'of-a', '000002-1-1.jsonl'), '{}\n');
        return false;
      },
    };
    await collected(open);
    expect(await readdir(join(directory, 'of-a'))).toContain('000002-1-1.jsonl');
  });

  it('knows whose folder it is by the one file of an execution', async () => {
    await archived('tenant-a/1', 0);
    const runs = [];
    for await (const run of archivedRuns(directory)) runs.push(run);
    expect(runs).toMatchObject([
      { namespace: 'default', workflowId: 'tenant-a/1', runId: 'of-tenant-a_1' },
    ]);
    expect(await readdir(join(directory, 'of-tenant-a_1'))).toEqual(['000001-0-0.jsonl']);
    const archive = createDirectoryArchive(directory);
    expect(await archive.read('of-tenant-a_1', 'events', 0, 9)).toEqual([{ text: 'said' }]);
  });
});

it('never deletes pages of a run that is open, whatever happens beside it', async () => {
  const step = fc.record({
    run: fc.constantFrom('a', 'a/1', 'b', 'b/1/2'),
    kind: fc.constantFrom('open', 'close', 'write', 'age', 'collect'),
    days: fc.nat({ max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      await rm(directory, { recursive: true, force: true });
      const open = new Set<string>();
      const pages = new Map<string, number>();
      let collecting: Promise<unknown> = Promise.resolve();
      const service: OpenRuns = {
        isRetained: async () => false,
        isOpen: async (id) => (await Promise.resolve(), open.has(id)),
        hasOpenFrom: async (start) => [...open].some((id) => id.startsWith(start)),
      };
      for (const { run, kind, days } of steps) {
        const folder = `of-${run}`.replaceAll('/', '_');
        if (kind === 'open' && !pages.has(run)) open.add(run);
        if (kind === 'close') open.delete(run);
        if (kind === 'write' && open.has(run)) {
          await archived(run, 0);
          pages.set(run, 0);
        }
        if (kind === 'age' && pages.has(run)) {
          await collecting;
          const old = (pages.get(run) ?? 0) + days;
          await age(folder, old).then(
            () => pages.set(run, old),
            () => pages.delete(run),
          );
        }
        if (kind === 'collect') collecting = collecting.then(() => collected(service));
        for (const id of open) {
          if (!pages.has(id)) continue;
          const names = await readdir(join(directory, `of-${id}`.replaceAll('/', '_')));
          expect(names).toContain('000001-0-0.jsonl');
        }
      }
      await collecting;
      for (const [id, old] of pages) {
        if (!open.has(id) && old > 90) continue;
        expect(await readdir(directory)).toContain(`of-${id}`.replaceAll('/', '_'));
      }
    }),
    { numRuns: extent(1_000, 100) },
  );
});

it.each([
  ['90d', 90 * DAY],
  ['12h', DAY / 2],
  ['0d', undefined],
  ['90', undefined],
  ['1m', undefined],
  ['1234567d', undefined],
])('`keep: %s` is %s ms', (text, ms) => {
  expect(keepMsOf(text)).toBe(ms);
});

it('refuses a `keep` that is no time', () => {
  expect(checkedKeepMs({})).toBeUndefined();
  expect(() => checkedKeepMs({ keep: 'soon' })).toThrow(
    'Expected `archive.keep` to be hours or days such as 12h or 90d, got "soon". Correct it.',
  );
});
