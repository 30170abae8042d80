/** A bucket as a store, by the real client of AWS against `s3rver`. */
import { StorageDriverClaim, type Payload } from '@temporalio/common';
import { encode } from '@temporalio/common/lib/encoding.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BlobStore, StoredRun } from '../../src/protection/blobs/blob-store.ts';
import { blobsOfEnvironment } from '../../src/protection/blobs/blobs-of-environment.ts';
import { collectBlobs, type KnownRuns } from '../../src/protection/blobs/collect-blobs.ts';
import { openBucket, type Bucket } from '../../src/protection/blobs/s3-bucket.ts';
import { bucketBlobs, s3Blobs } from '../../src/protection/blobs/s3-blobs.ts';
import { loadS3 } from '../../src/protection/blobs/s3-packages.ts';
import { extent } from '../support/extent.ts';
import { openTestBucket, type TestBucket } from '../support/bucket.ts';

let bucket: TestBucket;
beforeEach(async () => {
  bucket = await openTestBucket();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await bucket.close();
});

const HOUR = 3_600_000;
const LARGE = 'x'.repeat(300_000);

const payloadOf = (text: string): Payload => ({
  metadata: { encoding: encode('binary/plain') },
  data: encode(text),
});

/** A store of its own, as another process has it. */
const storeOf = (place = bucket.place, options = bucket.options) => {
  const { driver, ...store }: BlobStore = s3Blobs(place, options);
  return {
    ...store,
    put: async (text: string, id = 'run-1'): Promise<StorageDriverClaim> => {
      const target = { kind: 'workflow', namespace: 'default', id } as const;
      const [claim] = await driver.store({ target }, [payloadOf(text)]);
      return claim!;
    },
    read: async (claim: StorageDriverClaim): Promise<string> => {
      const [payload] = await driver.retrieve({}, [claim]);
      return Buffer.from(payload?.data ?? []).toString();
    },
    all: async (): Promise<readonly StoredRun[]> => {
      const runs: StoredRun[] = [];
      for await (const run of store.runs('default')) runs.push(run);
      return runs;
    },
  };
};

describe('a bucket of blobs', () => {
  it('keeps a payload below its run and the hour, and another process reads it', async () => {
    const claim = await storeOf().put(LARGE);
    const { v, key, sha256 } = claim.claimData;
    expect(v).toBe('1');
    expect(key).toMatch(new RegExp(`^default/run-1/\\d{6}/${sha256}$`));
    expect(bucket.requests).toEqual([`PUT /blobs/some/prefix/${key}`]);
    expect(await storeOf().read(claim)).toBe(LARGE);
  });

  it('does not fetch what this process stored, nor the same again', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    expect(await store.read(claim)).toBe('text');
    expect(bucket.requests).toHaveLength(1);
    const other = storeOf();
    expect([await other.read(claim), await other.read(claim)]).toEqual(['text', 'text']);
    expect(bucket.requests).toHaveLength(2);
  });

  it('keeps equal content of one run and hour once, for two writers at once', async () => {
    const claims = await Promise.all([storeOf(), storeOf()].map((store) => store.put('same')));
    // The hour may change between the two.
    const blobs = new Set(claims.map(({ claimData }) => claimData['key'])).size;
    expect(await storeOf().all()).toMatchObject([{ workflowId: 'run-1', blobs }]);
  });

  it('says that a blob is missing, and refuses one that is not what was stored', async () => {
    const claim = await storeOf().put('one');
    const other = await storeOf().put('two', 'run-2');
    await storeOf().remove('default', 'run-1');
    await expect(storeOf().read(claim)).rejects.toMatchObject({ name: 'blob_missing' });
    const { key = '', sha256 = '' } = other.claimData;
    const forged = { ...other.claimData, key: key.replace(sha256, 'a'.repeat(64)) };
    await expect(storeOf().read(new StorageDriverClaim(forged))).rejects.toMatchObject({
      name: 'blob_damaged',
    });
    const short = { ...other.claimData, bytes: '1' };
    await expect(storeOf().read(new StorageDriverClaim(short))).rejects.toMatchObject({
      name: 'blob_damaged',
    });
    expect(await storeOf().read(other)).toBe('two');
  });

  it('waits for a store that is silent, refuses or is gone, and goes on with it', async () => {
    const store = storeOf();
    const claim = await store.put(LARGE);
    bucket.be('unavailable');
    await expect(storeOf().read(claim)).rejects.toMatchObject({ name: 'blob_unreadable' });
    await expect(store.put(`${LARGE}x`)).rejects.toMatchObject({ name: 'blob_store_failed' });
    bucket.be('well');
    await bucket.leave();
    await expect(storeOf().read(claim)).rejects.toMatchObject({
      name: 'blob_unreadable',
      message: expect.stringMatching(/ECONNREFUSED/) as unknown,
    });
    await bucket.back();
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    bucket.be('silent');
    const small = await store.put('small');
    expect(small.claimData['data']).toBeTypeOf('string');
    bucket.be('well');
    expect(await storeOf().read(claim)).toBe(LARGE);
    expect(await storeOf().read(small)).toBe('small');
    expect((await store.put(`${LARGE}x`)).claimData['key']).toBeTypeOf('string');
  });

  it('is probed, and says what of a bucket and its credentials is wrong', async () => {
    await storeOf().probe();
    expect(await storeOf().all()).toEqual([]);
    const message = (place: string, got: string): string =>
      `Expected blob store \`${place}\` to be a bucket that this process may read and write, got: ${got} Correct the bucket, or the region, endpoint and credentials of the AWS variables.`;
    await expect(storeOf('s3://other').probe()).rejects.toMatchObject({
      code: 'blob_store',
      message: message('s3://other', 'NoSuchBucket: The specified bucket does not exist'),
    });
    const wrong = { accessKeyId: 'UNKNOWN', secretAccessKey: 'wrong' };
    await expect(
      storeOf(bucket.place, { ...bucket.options, credentials: wrong }).probe(),
    ).rejects.toMatchObject({
      code: 'blob_store',
      message: expect.stringContaining('InvalidAccessKeyId: ') as unknown,
    });
  });

  it('names the package that is missing', async () => {
    const missing = Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(loadS3(() => Promise.reject(missing))).rejects.toMatchObject({
      code: 'blob_package',
      message:
        'Expected package `@aws-sdk/client-s3` for a blob store in a bucket, got none. Run npm install @aws-sdk/client-s3@3.1173.0',
    });
    const broken = new Error('broken');
    await expect(loadS3(() => Promise.reject(broken))).rejects.toBe(broken);
  });

  it.each(['s3://', 's3://a', 's3://Bucket', 's3://bucket/a b', 's3://bucket/../x', 'bucket'])(
    'is no place: %s',
    (place) => {
      expect(() => s3Blobs(place)).toThrow(
        'Expected the place of a bucket for blobs as `s3://bucket/prefix`, got another text. Correct it.',
      );
      const problems: string[] = [];
      expect(
        blobsOfEnvironment({ EVERLOOP_BLOBS: place }, (text) => void problems.push(text)),
      ).toBeUndefined();
      expect(problems).toEqual([
        `Expected \`EVERLOOP_BLOBS\` to be \`dir:/path\` or \`s3://bucket/prefix\`, got ${JSON.stringify(place)}. Correct or unset it.`,
      ]);
    },
  );

  it('is named by the environment', () => {
    const store = blobsOfEnvironment({ EVERLOOP_BLOBS: 's3://bucket/a/b' }, () => undefined);
    expect(store?.place).toBe('s3://bucket/a/b');
  });
});

describe('deletion', () => {
  it('lists runs by their ids, long ones too, and deletes one', async () => {
    const store = storeOf();
    const long = `tenant/${'Ä'.repeat(300)}`;
    for (const id of ['a/b', 'a', 'a-b', long]) await store.put('one', id);
    await store.put('two', 'a');
    const runs = await store.all();
    expect(new Map(runs.map(({ workflowId, blobs }) => [workflowId, blobs]))).toEqual(
      new Map([
        ['a/b', 1],
        ['a', 2],
        ['a-b', 1],
        [long, 1],
      ]),
    );
    expect(await store.remove('default', long)).toMatchObject({ blobs: 1 });
    expect(new Set((await store.all()).map(({ workflowId }) => workflowId))).toEqual(
      new Set(['a', 'a-b', 'a/b']),
    );
    expect(await store.remove('default', 'unknown')).toEqual({ blobs: 0, bytes: 0 });
  });

  it('takes only hours that have ended, so what is stored again stays', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    const { key = '', sha256 = '' } = claim.claimData;
    const hour = Number(key.split('/')[2]);
    const opened = await openBucket('blobs', 'some/prefix/', bucket.options);
    const old = `default/run-1/${hour - 9}/${sha256}`;
    await opened.put(old, (await opened.get(key, 1_000))?.bytes ?? new Uint8Array());

    expect(await store.all()).toMatchObject([{ newestAt: (hour + 1) * HOUR, blobs: 2 }]);
    const remove = (before: number) => store.remove('default', 'run-1', before * HOUR);
    expect(await remove(hour - 8)).toMatchObject({ blobs: 0 });
    expect(await remove(hour - 1)).toMatchObject({ blobs: 1 });
    expect(await storeOf().read(claim)).toBe('text');
    const forgotten = new StorageDriverClaim({ ...claim.claimData, key: old });
    await expect(storeOf().read(forgotten)).rejects.toMatchObject({ name: 'blob_missing' });
  });

  it('is of the service that asked first', async () => {
    expect(await storeOf().own('default', 'one')).toBe('one');
    expect(await storeOf().own('default', 'two')).toBe('one');
    expect(await storeOf().own('other', 'two')).toBe('two');
    expect(await storeOf().all()).toEqual([]);
  });

  it('has a lease that one process takes in an hour', async () => {
    expect(await storeOf().takeLease(HOUR, 'one')).toBe(true);
    expect(await storeOf().takeLease(HOUR, 'two')).toBe(false);
    expect(await storeOf().takeLease(HOUR, 'one')).toBe(true);
    expect(await storeOf().takeLease(0, 'two')).toBe(true);
    expect(await storeOf().takeLease(HOUR, 'one')).toBe(false);
  });
});

/** A bucket in memory. Each of its calls lets others in. */
function memoryBucket(): { readonly bucket: Bucket; readonly keys: ReadonlySet<string> } {
  const objects = new Map<string, Uint8Array>();
  const keys: ReadonlySet<string> = { has: (key: string) => objects.has(key) } as never;
  const turn = (): Promise<void> => Promise.resolve();
  return {
    keys,
    bucket: {
      put: async (key, bytes) => {
        await turn();
        objects.set(key, bytes);
      },
      replace: async () => true,
      get: async () => undefined,
      async *list(start) {
        for (const [key, { length }] of [...objects].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
          if (!key.startsWith(start)) continue;
          await turn();
          yield { key, bytes: length };
        }
      },
      remove: async (gone) => {
        for (const key of gone) {
          await turn();
          objects.delete(key);
        }
      },
    },
  };
}

it('never deletes an object that a run needs, whatever happens beside a collection', async () => {
  const step = fc.record({
    kind: fc.constantFrom('start', 'store', 'close', 'forget', 'time', 'orphan', 'collect'),
    run: fc.nat({ max: 2 }),
    blob: fc.nat({ max: 2 }),
    minutes: fc.nat({ max: 400 }),
    turns: fc.nat({ max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      let now = 400_000 * HOUR;
      const { bucket: opened, keys } = memoryBucket();
      const store = bucketBlobs(
        's3://blobs',
        async () => opened,
        () => now,
      );
      const runs = new Map<string, { isOpen: boolean; readonly needs: Set<string> }>();
      const known: KnownRuns = {
        isKnown: async (id) => (await Promise.resolve(), runs.has(id)),
        hasRunsFrom: async () => false,
      };
      const parts = { store, known, namespace: 'default', olderThanMs: HOUR, now: () => now };
      const collect = async (): Promise<void> => {
        for await (const _run of collectBlobs(parts));
      };
      const put = async (id: string, blob: number): Promise<string> => {
        const target = { kind: 'workflow', namespace: 'default', id } as const;
        const text = `${blob}`.repeat(300_000);
        const [claim] = await store.driver.store({ target }, [payloadOf(text)]);
        return claim?.claimData['key'] ?? '';
      };
      let collecting: Promise<void> = Promise.resolve();
      for (const { kind, run, blob, minutes, turns } of steps) {
        const id = `run-${run}`;
        const own = runs.get(id);
        if (kind === 'start' && own === undefined) {
          runs.set(id, { isOpen: true, needs: new Set([await put(id, blob)]) });
        }
        if (kind === 'store' && own?.isOpen === true) own.needs.add(await put(id, blob));
        if (kind === 'orphan') await put(id, blob);
        if (kind === 'close' && own !== undefined) own.isOpen = false;
        if (kind === 'forget' && own?.isOpen === false) runs.delete(id);
        if (kind === 'time') now += minutes * 60_000;
        if (kind === 'collect') collecting = collecting.then(collect);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        for (const { needs } of runs.values()) {
          for (const key of needs) expect(keys.has(key), key).toBe(true);
        }
      }
      await collecting;
    }),
    { numRuns: extent(1_000, 60) },
  );
}, 180_000);
