/** Reading runs by replaying their histories: recorded ones, as they stood at many moments. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, describe, expect, it } from 'vitest';
import type { HistoryReader, ReadLink } from '../../src/client/reading/run-reader.ts';
import { defined } from '../../src/core/base/defined.ts';
import { markOf } from '../../src/worker/bundle/bundle-mark.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { createHistoryReader } from '../../src/worker/reading/history-reader.ts';
import { bundleFolder } from '../support/bundles.ts';
import { extentOf } from '../support/extent.ts';

type History = ReturnType<typeof historyFromJSON>;
type HistoryEvent = NonNullable<History['events']>[number];

const MINUTES = { timeout: 300_000 };

let replays = 0;
const readers: HistoryReader[] = [];
afterAll(async () => {
  for (const reader of readers) await reader.close();
});

/** The module with whose workflows the programs were recorded. */
const PROGRAMS_LOOP = fileURLToPath(
  new URL('../support/fixtures/workflows/programs-loop.ts', import.meta.url),
);

/** A reader of its own; starting one takes a second. */
function openReader(workflows?: string, workflowsPath?: string): HistoryReader {
  const loadBundle = async () =>
    loadWorkflowBundle(defined({ cacheDir: await bundleFolder(workflowsPath), workflowsPath }));
  const reader = createHistoryReader({
    loadBundle,
    ...(workflows === undefined ? {} : { workflows }),
  });
  readers.push(reader);
  return reader;
}

const ours = openReader();

function recorded(name: string): readonly HistoryEvent[] {
  const file = fileURLToPath(new URL(`../histories/${name}.json`, import.meta.url));
  return historyFromJSON(JSON.parse(readFileSync(file, 'utf8'))).events ?? [];
}

/** A service that has these events of one link, which may go on. */
function serviceOf(events: readonly HistoryEvent[], isOpen: boolean): Client {
  const handle = {
    describe: async () => ({
      type: 'agent',
      // A reader keeps what it has read of a link.
      runId: createHash('sha256').update(JSON.stringify(events)).digest('hex'),
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

/** Reads the run at its moments; the parts that it reads are those of the whole. */
async function readAtEach(reader: HistoryReader, events: readonly HistoryEvent[]): Promise<void> {
  const id = idOf(events);
  const whole = await reader.read(serviceOf(events, false), { id });
  expect(whole.answers.status.asOf).toBeUndefined();
  expect(seqsOf(whole).length).toBe(whole.answers.status.events! - whole.answers.events.first);
  let last = -1;
  for (const place of extentOf(finishedTasks(events), 3)) {
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
}

/**
 * `events` as a slow worker would have made them: tasks without a command go on after each end of a
 * local activity, `beats` before and one after it.
 */
function slowed(events: readonly HistoryEvent[], beats: number): readonly HistoryEvent[] {
  const given = JSON.parse(historyToJSON({ events: [...events] })) as {
    readonly events: readonly PlainEvent[];
  };
  const made: PlainEvent[] = [];
  const places = new Map<string, number>();
  const beat = (eventTime: unknown): void => {
    const scheduled = made.length + 1;
    for (const kind of ['Scheduled', 'Started', 'Completed']) {
      const eventType = `EVENT_TYPE_WORKFLOW_TASK_${kind.toUpperCase()}`;
      const ids = {
        ...(kind === 'Scheduled' ? {} : { scheduledEventId: `!${scheduled}` }),
        ...(kind === 'Completed' ? { startedEventId: `!${scheduled + 1}` } : {}),
      };
      const eventId = `!${made.length + 1}`;
      made.push({ eventId, eventTime, eventType, [`workflowTask${kind}EventAttributes`]: ids });
    }
  };
  for (const event of given.events) {
    const attributes = event['markerRecordedEventAttributes'] as
      { readonly markerName: string } | undefined;
    const isEnd = attributes?.markerName === 'core_local_activity';
    for (let count = 0; isEnd && count < beats; count += 1) beat(event['eventTime']);
    made.push(event);
    places.set(event.eventId, made.length);
    if (isEnd) beat(event['eventTime']);
  }
  // Marks are places of this history; all others are ids of the given one.
  const text = JSON.stringify({ events: made }).replaceAll(
    /"(\w*EventId)":"(!?)(\d+)"/gi,
    (_all, key: string, mark: string, id: string) =>
      `"${key}":"${mark === '' ? (places.get(id) ?? id) : id}"`,
  );
  return historyFromJSON(JSON.parse(text)).events ?? [];
}

interface PlainEvent {
  readonly eventId: string;
  readonly [key: string]: unknown;
}

describe('a run whose workers are gone', () => {
  it.each([
    'chat',
    'listed-waits',
    'callbacks',
    'local-reads',
    'handover-link',
    'fork',
    'native-cancel',
  ])('is read at each of its moments: %s', MINUTES, async (name) => {
    await readAtEach(ours, recorded(name));
  });

  it('is read with the workflows that ran it', MINUTES, async () => {
    const reader = openReader(await markOf(PROGRAMS_LOOP), PROGRAMS_LOOP);

    await readAtEach(reader, recorded('program-slices'));
  });

  it.each([
    ['listed-waits', 0],
    ['callbacks', 1],
    ['local-reads', 4],
  ] as const)('is read where its tasks were split: %s, %i beats', MINUTES, async (name, beats) => {
    await readAtEach(ours, slowed(recorded(name), beats));
  });

  it('shows what it begins with before a worker has finished a task', MINUTES, async () => {
    const fresh = recorded('chat').slice(0, 1);
    const handed = recorded('handover-link').slice(0, 1);

    const begun = await ours.read(serviceOf(fresh, true), { id: idOf(fresh) });
    const later = await ours.read(serviceOf(handed, true), { id: idOf(handed) });

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
