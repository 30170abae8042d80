/** The archive of a folder: what was written page by page is read by any range, whole or not at all. */
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ArchivedPage } from '../../src/activities/archive-transcript.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { NO_PROTECTION, protectionOf } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'everloop-archive-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const RUN = { namespace: 'default', workflowId: 'order' };

/** Texts with all that could end a line. */
const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\u2028', '"', '\0', '{"list":') });
const items = fc.array(
  text.map((said) => ({ type: 'said', said })),
  { maxLength: 6 },
);

/** Pages of an execution: entries, events, and mostly the state that it hands over. */
const execution = fc.record({
  entries: fc.array(items, { maxLength: 3 }),
  events: fc.array(items, { maxLength: 3 }),
});

it('gives each range of each list, from one file for each execution', async () => {
  const secured = protectionOf({
    keys: keyRing({ current: 'k1', keys: { k1: randomBytes(32) } }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(execution, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.nat({ max: 30 }),
      fc.nat({ max: 30 }),
      async (executions, isSecured, from, length) => {
        await rm(directory, { recursive: true, force: true });
        const archive = createDirectoryArchive(directory, isSecured ? secured : NO_PROTECTION);
        const all = { entries: [] as unknown[], events: [] as unknown[] };
        for (const [index, { entries, events }] of executions.entries()) {
          const pages = [
            ...entries.map((page) => ({ list: 'entries' as const, items: page })),
            ...events.map((page) => ({ list: 'events' as const, items: page })),
            { list: 'states' as const, items: [{ v: 1, link: index + 1 }] },
          ];
          const firsts = { firstEntry: all.entries.length, firstEvent: all.events.length };
          const link = { runId: 'r', link: index + 1, kind: 'pages' as const, ...firsts, run: RUN };
          // A worker that was lost writes it again.
          for (let time = 0; time < 2; time++) await archive.write(link, pages);
          all.entries.push(...entries.flat());
          all.events.push(...events.flat());
        }

        expect(await readdir(join(directory, 'r'))).toHaveLength(executions.length);
        for (const list of ['entries', 'events'] as const) {
          const read = await archive.read('r', list, from, from + length);
          expect(read).toEqual(all[list].slice(from, from + length));
        }
        const states = await archive.read('r', 'states', 0, 99);
        expect(states).toEqual(executions.map((_, index) => ({ v: 1, link: index + 1 })));
      },
    ),
    { numRuns: 60 },
  );
});

it('stores nothing of an execution whose pages cannot all be read', async () => {
  const archive = createDirectoryArchive(directory);
  const link = { runId: 'r', link: 1, kind: 'pages' as const, firstEntry: 0, firstEvent: 0 };
  async function* pages(): AsyncGenerator<ArchivedPage> {
    yield { list: 'entries', items: [{ said: 'tea' }] };
    throw new Error('no worker');
  }

  await expect(archive.write({ ...link, run: RUN }, pages())).rejects.toThrow('no worker');

  expect(await readdir(join(directory, 'r'))).toEqual([]);
});
