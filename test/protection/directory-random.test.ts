/**
 * The real folder of blobs while runs store, read and are forgotten, and several collections delete
 * beside them: no blob that a run needs is ever deleted.
 */
import type { Payload, StorageDriverClaim } from '@temporalio/common';
import fc from 'fast-check';
import { readdirSync, utimesSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { folderOf } from '../../src/protection/blobs/blob-names.ts';
import { collectBlobs, type KnownRuns } from '../../src/protection/blobs/collect-blobs.ts';
import { directoryBlobs, disk } from '../../src/protection/blobs/directory-blobs.ts';
import { extent } from '../support/extent.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const HOUR = 3_600_000;

/** The last has a folder whose name is cut. */
const IDS = ['run-0', 'run-1', 'x'.repeat(300)];

/** What happens next, and how many turns of the event loop pass then. */
const STEPS = fc.record({
  kind: fc.constantFrom('start', 'store', 'child', 'orphan', 'end', 'forget', 'age', 'collect'),
  run: fc.nat({ max: IDS.length - 1 }),
  blob: fc.nat({ max: 2 }),
  turns: fc.nat({ max: 4 }),
});

/** How many ms pass before a file gets another name or is deleted, call by call. */
const DELAYS = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 20 });

/** Lets others in before each change to the folder. */
function delayChanges(delays: readonly number[]): void {
  const { rename, rm: remove } = originals;
  let calls = 0;
  const next = (): Promise<void> => sleep(delays[calls++ % delays.length]);
  vi.spyOn(disk, 'rename').mockImplementation((...given) => next().then(() => rename(...given)));
  vi.spyOn(disk, 'rm').mockImplementation((...given) => next().then(() => remove(...given)));
}

const originals = { ...disk };

/**
 * What waits for the folders of its run: a run is started, ended and forgotten by what knows of its
 * parts, and time passes for what is at rest, since what was just stored is young.
 */
const RESTS: ReadonlySet<string> = new Set(['start', 'end', 'forget', 'age']);

/** A run that the service knows, and what it refers to. */
interface KnownRun {
  isOpen: boolean;
  readonly needs: Map<StorageDriverClaim, string>;
}

/** A folder, what the service knows, and what runs, people and workers do. */
function world(root: string) {
  const runs = new Map<string, KnownRun>();
  /** What is being done, by the run whose folders it needs. */
  const working = new Map<Promise<void>, string>();
  const known: KnownRuns = {
    isKnown: async (id) => (await turn(), runs.has(id)),
    hasRunsFrom: async () => (await turn(), false),
  };
  const begin = (id: string, work: () => Promise<void>): void => {
    const done = work().finally(() => working.delete(done));
    working.set(done, id);
  };
  const workOf = (id: string): readonly Promise<void>[] =>
    [...working].filter(([, of]) => of === id).map(([work]) => work);
  // Each call is of another process.
  const put = async (id: string, text: string): Promise<StorageDriverClaim> => {
    const target = { kind: 'workflow', namespace: 'default', id } as const;
    const payload: Payload = { metadata: {}, data: Buffer.from(text) };
    const [claim] = await directoryBlobs(root).driver.store({ target }, [payload]);
    return claim!;
  };
  const store = async (owner: KnownRun, folder: string, text: string): Promise<void> => {
    owner.needs.set(await put(folder, text), text);
  };
  return {
    /** Waits for what is being done to the folders of run `id`; collections go on. */
    rest: async (id: string): Promise<void> => {
      while (workOf(id).length > 0) await Promise.all(workOf(id));
    },
    runs,
    begin,
    put,
    store,
    age: (id: string): void => {
      for (const each of [id, `${id}/1`]) {
        const folder = join(root, 'default', folderOf(each));
        for (const name of namesIn(folder)) utimesSync(join(folder, name), 1e9, 1e9);
      }
    },
    collect: async (): Promise<void> => {
      const parts = { store: directoryBlobs(root), known, namespace: 'default', olderThanMs: HOUR };
      for await (const _run of collectBlobs(parts));
    },
    remove: async (id: string): Promise<void> => {
      for (const each of [id, `${id}/1`]) await directoryBlobs(root).remove('default', each);
    },
    settle: async (): Promise<void> => {
      while (working.size > 0) await Promise.all(working.keys());
    },
    check: async (): Promise<void> => {
      for (const { needs } of runs.values()) {
        for (const [claim, text] of needs) {
          const [payload] = await directoryBlobs(root).driver.retrieve({}, [claim]);
          expect(Buffer.from(payload?.data ?? []).toString()).toBe(text);
        }
      }
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

it('never deletes a blob that a run needs, whatever happens beside it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(STEPS, { minLength: 10, maxLength: 60 }),
      DELAYS,
      async (steps, delays) => {
        delayChanges(delays);
        const root = await mkdtemp(join(tmpdir(), 'everloop-random-'));
        try {
          const { runs, begin, put, store, rest, ...moves } = world(root);
          for (const { kind, run, blob, turns } of steps) {
            const id = IDS[run]!;
            const text = `blob ${blob}`;
            if (RESTS.has(kind)) await rest(id);
            const own = runs.get(id);
            if (kind === 'start' && own === undefined) {
              // The client stores first; the service knows the run afterwards.
              const started: KnownRun = { isOpen: true, needs: new Map() };
              begin(id, async () => {
                await store(started, id, text);
                await turn();
                runs.set(id, started);
              });
            }
            if (own?.isOpen === true) {
              if (kind === 'store') begin(id, () => store(own, id, text));
              // A child that was continued keeps its result with itself.
              if (kind === 'child') begin(id, () => store(own, `${id}/1`, text));
              if (kind === 'end') own.isOpen = false;
            }
            if (kind === 'orphan') begin(id, async () => void (await put(id, text)));
            if (kind === 'forget' && own?.isOpen === false) {
              runs.delete(id);
              // The service forgets it, or a person does.
              if (blob === 0) begin(id, () => moves.remove(id));
            }
            if (kind === 'age') moves.age(id);
            if (kind === 'collect') begin('a collection', moves.collect);
            for (let passed = 0; passed < turns; passed++) await turn();
          }
          await moves.settle();
          await moves.check();
          // Nor does the next one, which finds what the others left behind.
          for (const id of IDS) moves.age(id);
          await moves.collect();
          await moves.check();
        } finally {
          await rm(root, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: extent(300, 60) },
  );
}, 120_000);
