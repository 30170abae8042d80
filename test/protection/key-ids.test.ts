import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, ExternalStorage, type Payload } from '@temporalio/common';
import { ExternalStorageRunner } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { blobDriver } from '../../src/protection/blobs/blob-store.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { addKeyIds, HEAD_BYTES, keyIdOfHead } from '../../src/protection/key-ids.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';

const LONG = 'k'.repeat(128);
const keys = { k1: Buffer.alloc(32, 1), [LONG]: Buffer.alloc(32, 2) };
const message = proto.temporal.api.common.v1.Payload;

async function encrypted(id: string, value: unknown): Promise<Payload> {
  const { codec } = protectionOf({ keys: keyRing({ current: id, keys }) });
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)]);
  return payload as Payload;
}

describe('addKeyIds', () => {
  it('finds payloads wherever they are in a message', async () => {
    const found = new Set<string>();
    const event = {
      input: { payloads: [await encrypted('k1', 'a'), defaultPayloadConverter.toPayload('b')] },
      failure: { cause: { encodedAttributes: await encrypted(LONG, 'c') } },
      bytes: new Uint8Array(10),
    };

    addKeyIds({ events: [event, null, 1, 'text'] }, found);

    expect([...found].toSorted()).toEqual(['k1', LONG]);
  });

  it('finds payloads that lie in a reference, because their store did not take them', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const driver = blobDriver({
      name: 'full',
      type: 'full',
      place: 'full',
      put: () => Promise.reject(new Error('The disk is full.')),
      get: async () => undefined,
    });
    const storage = new ExternalStorage({ drivers: [driver], payloadSizeThreshold: 1_000 });
    const target = { kind: 'workflow' as const, namespace: 'default', id: 'run-1' };
    const large = [
      await encrypted('k1', 'x'.repeat(9_000)),
      await encrypted(LONG, 'y'.repeat(9_000)),
    ];
    const payloads = await new ExternalStorageRunner(storage).store(large, { target });
    warned.mockRestore();
    const found = new Set<string>();

    addKeyIds({ payloads }, found);

    expect([...found].toSorted()).toEqual(['k1', LONG]);
  });

  it('looks no deeper than messages are', () => {
    let deep: unknown = null;
    for (let depth = 0; depth < 100_000; depth++) deep = { deep };

    expect(() => addKeyIds(deep, new Set())).not.toThrow();
  });
});

describe('keyIdOfHead', () => {
  it('reads the key of a large payload from its first bytes', async () => {
    for (const id of ['k1', LONG]) {
      const bytes = message.encode(await encrypted(id, 'x'.repeat(100_000))).finish();

      expect(keyIdOfHead(bytes.subarray(0, HEAD_BYTES))).toBe(id);
      expect(keyIdOfHead(bytes)).toBe(id);
    }
    const plain = message.encode(defaultPayloadConverter.toPayload('x'.repeat(5_000))).finish();
    expect(keyIdOfHead(plain.subarray(0, HEAD_BYTES))).toBeUndefined();
  });

  it('reads any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), (bytes, isEntry) => {
        const head = isEntry ? Uint8Array.of(0x0a, ...bytes) : bytes;
        expect(keyIdOfHead(head)).toBeUndefined();
      }),
    );
  });

  it('counts the blobs of a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'everloop-heads-'));
    const store = directoryBlobs(folder);
    const target = (id: string) => ({ kind: 'workflow' as const, namespace: 'default', id });
    const large = 'x'.repeat(300_000);
    await store.driver.store({ target: target('a') }, [await encrypted('k1', large)]);
    await store.driver.store({ target: target('b') }, [
      await encrypted(LONG, large),
      defaultPayloadConverter.toPayload(large),
    ]);

    const ids = new Set<string | undefined>();
    for await (const head of store.heads('default', HEAD_BYTES)) {
      expect(head.length).toBe(HEAD_BYTES + 1);
      ids.add(keyIdOfHead(head));
    }
    const none: unknown[] = [];
    for await (const head of store.heads('other', HEAD_BYTES)) none.push(head);
    await rm(folder, { recursive: true });

    expect(ids).toEqual(new Set(['k1', LONG, undefined]));
    expect(none).toEqual([]);
  });
});
