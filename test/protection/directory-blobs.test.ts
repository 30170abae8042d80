import { StorageDriverClaim, type Payload } from '@temporalio/common';
import { encode } from '@temporalio/common/lib/encoding.js';
import fc from 'fast-check';
import {
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { encodeName, folderOf, isKey, runIdOf } from '../../src/protection/blobs/blob-names.ts';
import { MAX_BLOB_BYTES, type StoredRun } from '../../src/protection/blobs/blob-store.ts';
import { directoryBlobs, disk } from '../../src/protection/blobs/directory-blobs.ts';
import { passing } from '../support/passing.ts';
import { gate } from '../support/runs.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'everloop-blobs-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true, force: true });
});

const payloadOf = (text: string): Payload => ({
  metadata: { encoding: encode('binary/plain') },
  data: encode(text),
});

/** Too large for a history. */
const LARGE = 'x'.repeat(300_000);

const target = { kind: 'workflow', namespace: 'default', id: 'run-1' } as const;

const storeOf = (path = root) => {
  const { driver, ...store } = directoryBlobs(path);
  return {
    ...store,
    put: async (text: string, id: string = target.id): Promise<StorageDriverClaim> => {
      const [claim] = await driver.store({ target: { ...target, id } }, [payloadOf(text)]);
      return claim!;
    },
    read: async (claim: StorageDriverClaim): Promise<string> => {
      const [payload] = await driver.retrieve({}, [claim]);
      expect(Buffer.from(payload?.metadata?.['encoding'] ?? []).toString()).toBe('binary/plain');
      return Buffer.from(payload?.data ?? []).toString();
    },
    all: async (): Promise<readonly StoredRun[]> => {
      const runs: StoredRun[] = [];
      for await (const run of store.runs('default')) runs.push(run);
      return runs;
    },
  };
};

const pathOf = (claim: StorageDriverClaim): string => join(root, claim.claimData['key']!);
const folder = (id: string): string => join(root, 'default', folderOf(id));

describe('names', () => {
  it('encode ids so that no two runs share a folder and none leads out of the store', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }),
        (id, other) => {
          const name = folderOf(id);
          expect(name).toMatch(/^[a-z0-9%_~-]{1,233}$/);
          expect(isKey(`default/${name}/${'a'.repeat(64)}`)).toBe(true);
          if (Buffer.from(id).toString() === id && !name.includes('~')) {
            expect(runIdOf(name)).toBe(id);
          }
          if (Buffer.compare(Buffer.from(id), Buffer.from(other)) !== 0) {
            expect(folderOf(other)).not.toBe(name);
          }
        },
      ),
    );
  });

  it.each([
    ['run-1', 'run-1'],
    ['Run', '%52un'],
    ['a/b', 'a%2fb'],
    ['..', '%2e%2e'],
    ['~no-run', '%7eno-run'],
    ['é', '%c3%a9'],
  ])('of %s is %s', (id, name) => {
    expect(encodeName(id)).toBe(name);
    expect(runIdOf(name)).toBe(id);
  });

  it.each(['', '%zz', 'Run', '..', 'a/b', '%', '~no-run'])('%j is of no run', (name) => {
    expect(runIdOf(name)).toBeUndefined();
  });
});

describe('a folder of blobs', () => {
  it('keeps a payload under the hash of its content, readable by its owner only', async () => {
    const store = storeOf();
    const claim = await store.put('content');
    const { v, key, sha256, bytes } = claim.claimData;
    expect({ v, key }).toEqual({ v: '1', key: `default/run-1/${sha256}` });
    expect(Number(bytes)).toBe((await stat(pathOf(claim))).size);
    expect((await stat(pathOf(claim))).mode & 0o777).toBe(0o600);
    expect((await stat(folder('run-1'))).mode & 0o777).toBe(0o700);
    expect(await store.read(claim)).toBe('content');
  });

  it('syncs each folder that holds what was made, also by another process', async () => {
    const synced: string[] = [];
    const paths = new Map<FileHandle, string>();
    vi.spyOn(disk, 'open').mockImplementation(async (path, ...given) => {
      const file = await open(path, ...given);
      paths.set(file, relative(root, String(path)));
      return file;
    });
    vi.spyOn(disk, 'sync').mockImplementation(async (file) => {
      synced.push(paths.get(file) ?? 'unknown');
      await file.datasync();
    });
    const foldersOf = async (store: ReturnType<typeof storeOf>): Promise<ReadonlySet<string>> => {
      synced.length = 0;
      await store.put(LARGE);
      return new Set(synced.filter((path) => !path.endsWith('.tmp')));
    };
    const path = join(root, 'new', 'blobs');
    const all = ['', 'new', 'new/blobs', 'new/blobs/default', 'new/blobs/default/run-1'];
    const store = storeOf(path);
    expect(await foldersOf(store)).toEqual(new Set(all));
    expect(await foldersOf(storeOf(path))).toEqual(new Set(all.slice(2)));
    expect(await foldersOf(store)).toEqual(new Set(all.slice(4)));
  });

  it('keeps equal content of one run once, and renews its time', async () => {
    const store = storeOf();
    const claim = await store.put('content');
    await utimes(pathOf(claim), 0, 0);
    expect(await store.put('content')).toEqual(claim);
    expect(await readdir(folder('run-1'))).toHaveLength(1);
    expect((await stat(pathOf(claim))).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('takes the same and different content from two writers at once', async () => {
    const stores = [storeOf(), storeOf()];
    const texts = ['same', 'same', 'one', 'two', 'same', 'three'];
    const claims = await Promise.all(
      texts.map(async (text, index) => await stores[index % 2]!.put(text)),
    );
    for (const [index, claim] of claims.entries()) {
      expect(await stores[(index + 1) % 2]!.read(claim)).toBe(texts[index]);
    }
    expect(await readdir(folder('run-1'))).toHaveLength(4);
  });

  it('has nothing half-written after a crash between write and rename', async () => {
    vi.spyOn(disk, 'rename').mockRejectedValueOnce(new Error('killed'));
    vi.spyOn(disk, 'rm').mockResolvedValueOnce(undefined);
    const store = storeOf();
    await expect(store.put(LARGE)).rejects.toMatchObject({ name: 'blob_store_failed' });
    expect(await readdir(folder('run-1'))).toEqual([expect.stringMatching(/\.tmp$/)]);
    expect(await store.all()).toMatchObject([{ workflowId: 'run-1', blobs: 0 }]);
    const claim = await store.put(LARGE);
    expect(await store.read(claim)).toBe(LARGE);
    await store.remove('default', 'run-1');
    expect(await readdir(join(root, 'default'))).toEqual([]);
  });

  it.each([
    ['other content', async (path: string) => writeFile(path, 'x'.repeat((await stat(path)).size))],
    ['one that does not have {bytes} bytes', (path: string) => truncate(path, 3)],
    ['one that does not have {bytes} bytes', (path: string) => writeFile(path, 'x'.repeat(1_000))],
  ])('refuses a damaged blob: %s', async (got, damage) => {
    const store = storeOf();
    const claim = await store.put('text');
    await damage(pathOf(claim));
    const message = `Expected blob \`${claim.claimData['key']}\` in \`dir:${root}\` as it was stored, got ${got.replace('{bytes}', claim.claimData['bytes']!)}. Bring it back from a backup; until then the run waits.`;
    await expect(store.read(claim)).rejects.toMatchObject({ name: 'blob_damaged', message });
    // Stored again, it is whole.
    expect(await store.read(await store.put('text'))).toBe('text');
  });

  it('says that a blob is missing', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    await rm(pathOf(claim));
    const message = `Expected blob \`${claim.claimData['key']}\` in \`dir:${root}\`, got none. Bring it back from a backup, or give this process the store that it was written to; until then the run waits.`;
    await expect(store.read(claim)).rejects.toMatchObject({ name: 'blob_missing', message });
  });

  it.each([
    { v: '2' },
    { key: '../../etc/passwd' },
    { key: `default/../${'a'.repeat(64)}` },
    { sha256: 'b'.repeat(64) },
    { bytes: '-1' },
    { bytes: '1e3' },
    { bytes: String(MAX_BLOB_BYTES + 1) },
  ])('refuses a reference that is not valid: %j', async (change) => {
    const store = storeOf();
    const { claimData } = await store.put('text');
    const claim = new StorageDriverClaim({ ...claimData, ...change } as Record<string, string>);
    await expect(store.read(claim)).rejects.toMatchObject({ name: 'blob_damaged' });
  });

  it('takes 32 MiB and refuses one byte more before it is stored', async () => {
    const store = storeOf();
    const overhead =
      Number((await store.put('x'.repeat(30_000_000))).claimData['bytes']) - 30_000_000;
    const text = 'x'.repeat(MAX_BLOB_BYTES - overhead);
    expect(await store.read(await store.put(text))).toBe(text);
    await expect(store.put(`${text}x`, 'other')).rejects.toMatchObject({
      name: 'blob_too_large',
      message: `Expected a payload of at most 33554432 bytes, got 33554433. Let a tool keep the data, and pass on where it is.`,
    });
    await expect(stat(folder('other'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    ['ENOSPC', 'no space left on device'],
    ['EROFS', 'read-only file system'],
  ])('says that it is full or read-only (%s), and takes blobs afterwards', async (code, text) => {
    vi.spyOn(disk, 'open').mockRejectedValue(
      Object.assign(new Error(`${code}: ${text}`), { code }),
    );
    const store = storeOf();
    const message = `Expected \`dir:${root}\` to take a blob, got: ${code}: ${text} Repair the store; this is repeated.`;
    await expect(store.put(LARGE)).rejects.toMatchObject({ name: 'blob_store_failed', message });
    await expect(store.probe()).rejects.toThrow(
      `Expected blob store \`dir:${root}\` to be a folder that this user may write, got: ${code}: ${text} Give this user the folder, or name another by \`EVERLOOP_BLOBS\`.`,
    );
    await expect(store.probe()).rejects.toBeInstanceOf(UsageError);
    vi.restoreAllMocks();
    await store.probe();
    expect(await store.read(await store.put('text'))).toBe('text');
    expect(await readdir(root)).toEqual(['default']);
  });

  it('does not wait for ever for a store that is stuck', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      vi.spyOn(disk, 'stat').mockReturnValue(new Promise(() => undefined));
      const refused = expect(storeOf().put(LARGE)).rejects.toMatchObject({
        name: 'blob_store_failed',
      });
      await vi.advanceTimersByTimeAsync(60_000);
      await refused;
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps what a history can hold in the reference while it takes nothing', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.spyOn(disk, 'open').mockRejectedValue(new Error('ENOSPC: no space left on device'));
    const store = storeOf();
    const claims = [await store.put('one'), await store.put('two')];
    expect(claims.map(({ claimData }) => Object.keys(claimData))).toEqual([
      ['v', 'data'],
      ['v', 'data'],
    ]);
    const message = `Expected \`dir:${root}\` to take a blob, got: ENOSPC: no space left on device Repair the store; this is repeated. Until then, results of calls lie in the history.`;
    expect(warnings.mock.calls).toEqual([[message, 'EverloopWarning']]);
    vi.restoreAllMocks();
    expect((await store.put('three')).claimData['key']).toMatch(/^default\/run-1\//);
    expect(await Promise.all(claims.map((claim) => store.read(claim)))).toEqual(['one', 'two']);
  });

  it('waits two seconds to store what a history can hold', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      vi.spyOn(process, 'emitWarning').mockReturnValue();
      vi.spyOn(disk, 'stat').mockReturnValue(new Promise(() => undefined));
      const stored = storeOf().put('text');
      await vi.advanceTimersByTimeAsync(2_000);
      expect((await stored).claimData['data']).toBeTypeOf('string');
    } finally {
      vi.useRealTimers();
    }
  });

  it('is of the service that asked first', async () => {
    const owners = await Promise.all(
      ['one', 'two', 'three'].map((owner) => storeOf().own('default', owner)),
    );
    expect(new Set(owners).size).toBe(1);
    expect(['one', 'two', 'three']).toContain(owners[0]);
    expect(await storeOf().own('Other', 'four')).toBe('four');
    expect((await readdir(root)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      '%4fther.owner',
      'default.owner',
    ]);
  });

  it('refuses a path that is none', () => {
    expect(() => directoryBlobs('')).toThrow(
      'Expected the path of a folder for blobs, got none. Name a folder.',
    );
  });
});

describe('deletion', () => {
  it('lists runs by their ids, long ones too, and deletes one', async () => {
    const store = storeOf();
    const long = `tenant/${'Ä'.repeat(300)}`;
    await store.put('one', 'a/b');
    await store.put('two', long);
    expect((await store.all()).map(({ workflowId, blobs }) => [workflowId, blobs])).toEqual(
      expect.arrayContaining([
        ['a/b', 1],
        [long, 1],
      ]),
    );
    expect(await store.remove('default', long)).toMatchObject({ blobs: 1 });
    expect(await readdir(join(root, 'default'))).toEqual([folderOf('a/b')]);
    expect(await store.remove('default', 'unknown')).toEqual({ blobs: 0, bytes: 0 });
  });

  it('knows no id for a folder that is not one of a run', async () => {
    const store = storeOf();
    await store.put('one', 'x'.repeat(500));
    await rm(join(folder('x'.repeat(500)), 'run-id'));
    const { driver } = directoryBlobs(root);
    await driver.store({ target: { kind: 'workflow', namespace: 'default' } }, [payloadOf('x')]);
    expect((await store.all()).map(({ workflowId }) => workflowId)).toEqual([undefined, undefined]);
  });

  it('keeps blobs that were stored since', async () => {
    const store = storeOf();
    const [old, renewed] = [await store.put('old'), await store.put('renewed')];
    for (const claim of [old, renewed]) await utimes(pathOf(claim), 1_000, 1_000);
    await store.put('renewed');
    expect(await store.remove('default', 'run-1', Date.now() - 60_000)).toMatchObject({ blobs: 1 });
    expect(await store.read(renewed)).toBe('renewed');
    await expect(store.read(old)).rejects.toMatchObject({ name: 'blob_missing' });
  });

  it('puts a blob back that was stored again in the middle of its deletion', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    await utimes(pathOf(claim), 1_000, 1_000);
    vi.spyOn(disk, 'rename').mockImplementationOnce(async (from, to) => {
      await store.put('text');
      await rename(from, to);
      // While it has the other name, it is read by that.
      expect(await store.read(claim)).toBe('text');
    });
    expect(await store.remove('default', 'run-1', Date.now() - 60_000)).toMatchObject({ blobs: 0 });
    expect(await readdir(folder('run-1'))).toEqual([claim.claimData['sha256']]);
    expect(await store.read(claim)).toBe('text');
  });

  it('keeps a blob that was stored between two deletions of the old one', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    await utimes(pathOf(claim), 1_000, 1_000);
    const before = Date.now() - 60_000;
    const [mayRename, isRenamed, isRemoved] = [gate(), gate(), gate()];
    const renamed = vi.spyOn(disk, 'rename').mockImplementationOnce(async (from, to) => {
      await mayRename.opened;
      await rename(from, to);
      isRenamed.open();
      await isRemoved.opened;
    });
    // The first has seen the old one, and waits.
    const first = storeOf().remove('default', 'run-1', before);
    await passing(() => expect(renamed).toHaveBeenCalledTimes(1));
    vi.spyOn(disk, 'rm').mockImplementationOnce(async (path, options) => {
      await store.put('text');
      mayRename.open();
      await isRenamed.opened;
      await rm(path, options);
      isRemoved.open();
    });
    await store.remove('default', 'run-1', before);
    await first;

    expect(await store.read(claim)).toBe('text');
    expect(await readdir(folder('run-1'))).toEqual([claim.claimData['sha256']]);
  });

  it('puts a blob back that an ended deletion has left', async () => {
    const store = storeOf();
    const claim = await store.put('text');
    await rename(pathOf(claim), `${pathOf(claim)}.gone`);
    expect(await store.read(claim)).toBe('text');
    await store.remove('default', 'run-1', Date.now() - 60_000);
    expect(await readdir(folder('run-1'))).toEqual([claim.claimData['sha256']]);
    expect(await readFile(pathOf(claim))).toHaveLength(Number(claim.claimData['bytes']));
  });
});
