/** The hourly collection of several workers, over a real folder and a service with many runs. */
import type { Client } from '@temporalio/client';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { collectOnce } from '../../src/worker/retention/collect-hourly.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'everloop-collect-'));
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true, force: true });
});

const MINUTE = 60_000;

/** A service that knows every run; `onQuestion` hears each question. */
function serviceWith(onQuestion: () => Promise<void>): Client {
  const describe = async (): Promise<object> => (
    await onQuestion(),
    { status: { name: 'RUNNING' } }
  );
  const workflow = { getHandle: () => ({ describe }), count: async () => ({ count: 1 }) };
  const workflowService = {
    describeNamespace: async () => ({ namespaceInfo: { id: 'service' } }),
  };
  const connection = { workflowService };
  return {
    connection,
    options: { namespace: 'default' },
    workflow: { ...workflow, connection },
    workflowService,
  } as unknown as Client;
}

/** A store with blobs of so many runs, of 2001. */
async function storeRuns(count: number): Promise<ReturnType<typeof directoryBlobs>> {
  const store = directoryBlobs(root);
  for (let index = 0; index < count; index++) {
    const target = { kind: 'workflow', namespace: 'default', id: `run-${index}` } as const;
    const [claim] = await store.driver.store({ target }, [{ data: Buffer.from('content') }]);
    await utimes(join(root, claim?.claimData['key'] ?? ''), 1e9, 1e9);
  }
  return store;
}

it('is done by one worker, however many hours it takes', async () => {
  const store = await storeRuns(8);
  let [questions, others] = [0, 0];
  const lines: string[] = [];
  const log = (_level: string, line: string): void => void lines.push(line);
  const other = serviceWith(async () => void (others += 1));
  const client = serviceWith(async () => {
    questions += 1;
    vi.setSystemTime(Date.now() + 20 * MINUTE);
    await collectOnce({ client: other, store, log });
  });
  await collectOnce({ client, store, log });

  expect(questions).toBe(8);
  expect(others).toBe(0);
  expect(lines).toEqual([]);
});

it('ends when another worker has begun, as after hours of sleep', async () => {
  const store = await storeRuns(3);
  let questions = 0;
  const lines: string[] = [];
  const client = serviceWith(async () => {
    questions += 1;
    vi.setSystemTime(Date.now() + 120 * MINUTE);
    // Taken by the time of the file system, renewed by the time of this test.
    for (const _ of [1, 2]) expect(await store.takeLease(60 * MINUTE, 'another')).toBe(true);
  });
  await collectOnce({ client, store, log: (_level, line) => void lines.push(line) });

  expect(questions).toBe(1);
  expect(lines).toEqual([
    `Not all blobs of forgotten runs in ${store.place} were deleted: Another worker has begun to collect.`,
  ]);
});
