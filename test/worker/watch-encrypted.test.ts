import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { MANY_PAYLOADS } from '../../src/protection/encrypted-payloads.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { watchEncrypted } from '../../src/worker/serve/watch-encrypted.ts';

const keys = keyRing({ current: 'k1', keys: { k1: Buffer.alloc(32, 1) } });
const payload = defaultPayloadConverter.toPayload('tea');

it('counts what clients and workers encrypt, until it is stopped', async () => {
  const protection = protectionOf({ keys });
  const counted: unknown[] = [];
  const stop = watchEncrypted(protection, (...given) => counted.push(given));

  await protection.codec.encode([payload, payload]);
  await protection.workerCodec(() => undefined).encode([payload]);
  stop();
  await protection.codec.encode([payload]);

  expect(counted).toEqual([
    ['k1', 2],
    ['k1', 1],
  ]);
  expect(watchEncrypted(undefined, () => undefined)()).toBeUndefined();
});

it('warns once at 2^31', () => {
  const { encrypted } = protectionOf({ keys });
  const warned: string[] = [];
  watchEncrypted(
    { encrypted },
    () => undefined,
    (message) => warned.push(message),
  );

  encrypted.add('k1', MANY_PAYLOADS - 1);
  expect(warned).toEqual([]);
  encrypted.add('k1', 2);
  encrypted.add('k1', 2);
  encrypted.add('k2', 2);

  expect(warned).toEqual([
    'Key k1 has encrypted 2^31 payloads in this process, half of what a key should. Put a new key first in EVERLOOP_KEYS.',
  ]);
});

it('keeps few labels, however many tenants there are', () => {
  const { encrypted } = protectionOf({ keys });
  const ids = new Set<string>();
  let all = 0;
  watchEncrypted({ encrypted }, (id, payloads) => {
    ids.add(id);
    all += payloads;
  });

  for (let tenant = 0; tenant < 1_000; tenant++) encrypted.add(`tenant-${tenant}`, 1);

  expect(ids.size).toBe(201);
  expect(ids.has('other')).toBe(true);
  expect(all).toBe(1_000);
});
