/** Reading runs by replaying their histories: recorded ones, as they stood at many moments. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, describe, expect, it } from 'vitest';
import type { HistoryReader, ReadLink } from '../../src/client/reading/run-reader.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { createHistoryReader } from '../../src/worker/reading/history-reader.ts';
import { bundleFolder } from '../support/bundles.ts';

type History = ReturnType<typeof historyFromJSON>;
type HistoryEvent = NonNullable<History['events']>[number];

const MINUTES = { timeout: 300_000 };

let replays = 0;
const readers: HistoryReader[] = [];
afterAll(async () => {
  for (const reader of readers) await reader.close();
});

function openReader(workflows?: string): HistoryReader {
  const loadBundle = async () => loadWorkflowBundle({ cacheDir: await bundleFolder() });
  const reader = createHistoryReader({
    loadBundle,
    ...(workflows === undefined ? {} : { workflows }),
  });
  readers.push(reader);
  return reader;
}

function recorded(name: string): readonly HistoryEvent[] {
  const file = fileURLToPath(new URL(`../histories/${name}.json`, import.meta.url));
  return historyFromJSON(JSON.parse(readFileSync(file, 'utf8'))).events ?? [];
}

/** A service that has these events of one link, which may go on. */
function serviceOf(events: readonly HistoryEvent[], isOpen: boolean): Client {
  const handle = {
    describe: async () => ({
      type: 'agent',
      runId: `link-of-${events.length}-${String(events[0]?.eventTime?.nanos)}`,
      status: { name: isOpen ? 'RUNNING' : 'COMPLETED' },
      historyLength: events.length,
    }),
    fetchHistory: async () => {
      replays += 1;
      return { events: [...events] };
    },
  };
  return { workflow: { getHandle: () => handle } } as unknown as Client;
}

/** Ids of children and of calls begin with it. */
function idOf([first]: readonly HistoryEvent[]): string {
  return first?.workflowExecutionStartedEventAttributes?.workflowId ?? 'r';
}

/** The places after which a worker had finished a task. */
function finishedTasks(events: readonly HistoryEvent[]): readonly number[] {
  return events.flatMap(({ workflowTaskCompletedEventAttributes: done }, place) =>
    done == null ? [] : [place],
  );
}

const seqsOf = ({ answers }: ReadLink): readonly unknown[] =>
  answers.events.items.map((event) => (event as { readonly seq: number }).seq);

describe('a run whose workers are gone', () => {
  it.each([
    'chat',
    'people',
    'callbacks',
    'program-slices',
    'handover-link',
    'fork',
    'native-cancel',
  ])('is read at each of its moments: %s', MINUTES, async (name) => {
    const reader = openReader();
    const events = recorded(name);
    const id = idOf(events);
    const whole = await reader.read(serviceOf(events, false), { id });
    expect(whole.answers.status.asOf).toBeUndefined();
    expect(seqsOf(whole).length).toBe(whole.answers.status.events! - whole.answers.events.first);
    let last = -1;
    for (const place of finishedTasks(events)) {
      // What came after the task that no worker has finished is not a part of the run yet.
      for (const tail of [1, 4]) {
        const seen = events.slice(0, place + tail);
        const read = await reader.read(serviceOf(seen, true), { id });
        const { asOf = 0 } = read.answers.status;
        expect(asOf).toBeGreaterThan(place);
        const seqs = seqsOf(read);
        expect(read.answers.events.items).toEqual(whole.answers.events.items.slice(0, seqs.length));
        expect(seqs.length).toBeGreaterThanOrEqual(last);
        last = seqs.length;
      }
    }
    expect(last).toBeGreaterThan(0);
  });

  it('shows what it begins with before a worker has finished a task', MINUTES, async () => {
    const reader = openReader();
    const fresh = recorded('chat').slice(0, 1);
    const handed = recorded('handover-link').slice(0, 1);

    const begun = await reader.read(serviceOf(fresh, true), { id: idOf(fresh) });
    const later = await reader.read(serviceOf(handed, true), { id: idOf(handed) });

    expect(begun.answers).toMatchObject({ status: { agent: 'airline', iteration: 0 }, tree: null });
    expect(later.answers.status.link).toBeGreaterThan(1);
    expect(later.answers.tree).not.toBeNull();
  });

  it('is replayed once, however much is asked of it', MINUTES, async () => {
    const reader = openReader();
    const client = serviceOf(recorded('chat'), false);
    const before = replays;

    await Promise.all([1, 2, 3].map(() => reader.read(client, { id: 'r' })));
    await reader.read(client, { id: 'r' });

    expect(replays - before).toBe(1);
  });

  it('needs a worker where it ran with other workflows', MINUTES, async () => {
    const reader = openReader('mine.ts@01234567');

    await expect(
      reader.read(serviceOf(recorded('chat'), false), { id: 'r' }),
    ).rejects.toMatchObject({ code: 'reader_needs_worker' });
  });
});
