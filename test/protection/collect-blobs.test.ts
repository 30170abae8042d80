/** Blobs are deleted once no run needs them, and never before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlobStore, StoredRun } from '../../src/protection/blobs/blob-store.ts';
import { collectBlobs, type KnownRuns } from '../../src/protection/blobs/collect-blobs.ts';
import { extent } from '../support/extent.ts';

const DAY = 86_400_000;
const WEEK = 7 * DAY;

/** A store and a service in memory. Each of their calls lets others in. */
function world() {
  const blobs = new Map<string, Map<string, number>>();
  const runs = new Map<string, { closedAt?: number; needs: Set<string> }>();
  let time = 0;
  const turn = (): Promise<void> => Promise.resolve();
  const store: Pick<BlobStore, 'runs' | 'remove'> = {
    async *runs() {
      const listed = [...blobs];
      for (const [workflowId, own] of listed) {
        await turn();
        const newestAt = Math.max(...own.values());
        yield { workflowId, newestAt, blobs: own.size, bytes: own.size } satisfies StoredRun;
      }
    },
    remove: async (_namespace, workflowId, before = Infinity) => {
      await turn();
      const own = blobs.get(workflowId) ?? new Map<string, number>();
      const old = [...own].filter(([, at]) => at < before).map(([name]) => name);
      for (const name of old) {
        await turn();
        // As the folder does: what was stored again meanwhile stays.
        if ((own.get(name) ?? Infinity) < before) own.delete(name);
      }
      if (own.size === 0) blobs.delete(workflowId);
      return { blobs: old.length, bytes: old.length };
    },
  };
  const known: KnownRuns = {
    isKnown: async (id) => (await turn(), runs.has(id)),
    hasRunsFrom: async (start) => (
      await turn(),
      [...runs.keys()].some((other) => other.startsWith(start))
    ),
  };
  return {
    store,
    known,
    blobs,
    runs,
    now: () => time,
    pass: (ms: number): void => {
      time += ms;
    },
    put: (folder: string, name: string): void => {
      const own = blobs.get(folder) ?? new Map<string, number>();
      own.set(name, time);
      blobs.set(folder, own);
    },
    collect: async (): Promise<readonly string[]> => {
      const gone: string[] = [];
      const parts = { store, known, namespace: 'default', olderThanMs: WEEK, now: () => time };
      for await (const { workflowId } of collectBlobs(parts)) gone.push(workflowId);
      return gone;
    },
  };
}

describe('a collection', () => {
  it('takes what the service forgot, and keeps runs that are open for a year or were closed', async () => {
    const { put, runs, pass, collect, blobs } = world();
    for (const id of ['open', 'closed', 'forgotten', 'orphan']) put(id, 'a');
    runs.set('open', { needs: new Set() });
    runs.set('closed', { closedAt: 1, needs: new Set() });
    pass(365 * DAY);
    put('young', 'a');

    expect(await collect()).toEqual(['forgotten', 'orphan']);
    expect([...blobs.keys()]).toEqual(['open', 'closed', 'young']);
  });

  it('keeps the blobs of a tree while one of its runs is known', async () => {
    const { put, runs, pass, collect } = world();
    for (const id of ['a', 'a/1', 'a/1/2', 'b/1', 'b']) put(id, 'x');
    runs.set('a/1', { needs: new Set() });
    pass(30 * DAY);

    expect(await collect()).toEqual(['b/1', 'b']);
    runs.delete('a/1');
    expect(await collect()).toEqual(['a', 'a/1', 'a/1/2']);
  });

  it('says what it would delete', async () => {
    const { put, pass, store, known, now, blobs } = world();
    put('forgotten', 'a');
    pass(30 * DAY);
    const parts = { store, known, namespace: 'default', olderThanMs: WEEK, now, dryRun: true };
    const found = [];
    for await (const run of collectBlobs(parts)) found.push(run);

    expect(found).toEqual([{ workflowId: 'forgotten', blobs: 1, bytes: 1 }]);
    expect(blobs.size).toBe(1);
  });

  it('deletes nothing more once the service does not answer', async () => {
    const { put, pass, store, now, blobs } = world();
    put('forgotten', 'a');
    pass(30 * DAY);
    const known: KnownRuns = {
      isKnown: () => Promise.reject(new Error('unavailable')),
      hasRunsFrom: () => Promise.resolve(false),
    };
    const collection = collectBlobs({ store, known, namespace: 'default', olderThanMs: WEEK, now });

    await expect(collection.next()).rejects.toThrow('unavailable');
    expect(blobs.size).toBe(1);
  });
});

/** What happens beside a collection: a run, or the time. */
const STEPS = fc.record({
  kind: fc.constantFrom('start', 'store', 'child', 'close', 'forget', 'time', 'orphan'),
  run: fc.nat({ max: 3 }),
  blob: fc.nat({ max: 3 }),
  days: fc.nat({ max: 20 }),
  turns: fc.nat({ max: 6 }),
});

it('never deletes a blob that a run needs, whatever happens beside it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEPS, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { put, runs, pass, collect, blobs } = world();
      let collecting: Promise<unknown> = collect();
      const check = (): void => {
        for (const [id, { needs }] of runs) {
          for (const need of needs) {
            const [folder = '', name = ''] = need.split('|');
            expect(blobs.get(folder)?.has(name), `${id} needs ${need}`).toBe(true);
          }
        }
      };
      const need = (id: string, folder: string, name: string): void => {
        put(folder, name);
        runs.get(id)?.needs.add(`${folder}|${name}`);
      };
      for (const { kind, run, blob, days, turns } of steps) {
        const id = `run-${run}`;
        const child = `${id}/1`;
        const name = `blob-${blob}`;
        if (kind === 'start' && !runs.has(id)) {
          // The client stores first; the service knows the run some moments later.
          put(id, name);
          await Promise.resolve();
          await Promise.resolve();
          runs.set(id, { needs: new Set([`${id}|${name}`]) });
        }
        if (kind === 'store' && runs.get(id)?.closedAt === undefined) need(id, id, name);
        if (kind === 'child' && runs.get(id)?.closedAt === undefined && runs.has(id)) {
          // A child's result lies with its parent, or, of a continued child, with itself.
          need(id, blob % 2 === 0 ? id : child, name);
          if (blob > 1) runs.set(child, { needs: new Set([`${id}|${name}`]) });
          if (blob > 1) put(id, name);
        }
        const own = runs.get(id);
        if (kind === 'close' && own !== undefined) own.closedAt = 1;
        if (kind === 'forget' && own?.closedAt !== undefined) runs.delete(id);
        if (kind === 'orphan') put(id, `${name}-orphan`);
        if (kind === 'time') pass(days * DAY);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        check();
        if (turns > 3) {
          await collecting;
          collecting = collect();
        }
      }
      await collecting;
      check();
    }),
    { numRuns: extent(1_000, 300) },
  );
});
