import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, queueOf } from '../../src/client/connect.ts';

describe('connect', () => {
  it('names the address and what to do when nobody answers', async () => {
    await expect(
      connect({ env: {}, address: '127.0.0.1:1', timeoutMs: 5_000 }),
    ).rejects.toMatchObject({
      name: 'UsageError',
      code: 'no_server',
      message:
        'Expected a Temporal server at 127.0.0.1:1, got: the connection was refused (ECONNREFUSED): ' +
        'nothing listens at that port. Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`.',
    });
  });

  it('refuses an environment that does not fit', async () => {
    await expect(connect({ env: { TEMPORAL_ADDRESS: 'nowhere' } })).rejects.toMatchObject({
      code: 'environment',
      message:
        'Expected `TEMPORAL_ADDRESS` to be host and port like `localhost:7233`, got `nowhere`. ' +
        'Correct it, or unset it to use a server of this machine.',
    });
  });

  it('refuses addresses of streams that are none', async () => {
    const env = { EVERLOOP_STREAM_URL: 'http://workers:7244, workers:7244' };
    await expect(connect({ env })).rejects.toMatchObject({
      code: 'environment',
      message:
        'Expected `EVERLOOP_STREAM_URL` to be addresses such as http://workers:7244, got `workers:7244`. Correct it.',
    });
  });
});

describe('the task queue of a client', () => {
  it('is the one on which this folder is served, if no server and no queue is named', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'everloop-connect-'));
    try {
      const before = await queueOf({ dataDir }, {});
      await writeFile(join(dataDir, 'queue.json'), '{"v":1,"taskQueue":"everloop-1f3a"}');

      expect(before).toBeUndefined();
      expect(await queueOf({ dataDir }, {})).toBe('everloop-1f3a');
      expect(await queueOf({}, { EVERLOOP_DATA_DIR: dataDir })).toBe('everloop-1f3a');
      expect(await queueOf({ dataDir }, { EVERLOOP_TASK_QUEUE: 'mine' })).toBe('mine');
      expect(await queueOf({ dataDir, taskQueue: 'given' }, {})).toBe('given');
      expect(await queueOf({ dataDir, address: 'far:7233' }, {})).toBeUndefined();
      expect(await queueOf({ dataDir }, { TEMPORAL_ADDRESS: 'far:7233' })).toBeUndefined();
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});
