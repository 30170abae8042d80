/** The texts of the errors of protection, whole: people read them, and act by them. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  BlobDamagedError,
  BlobMissingError,
  BlobStoreError,
  BlobTooLargeError,
  BlobUnreadableError,
} from '../../src/protection/blobs/blob-errors.ts';
import { askKeys } from '../../src/protection/asked-keys.ts';
import { createCodec } from '../../src/protection/codec.ts';
import { KeyMissingError, unreadableError } from '../../src/protection/key-errors.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { environmentProtection, protectionOf } from '../../src/protection/protection.ts';

const k1 = Buffer.alloc(32, 1);
const entry = `k1=${k1.toString('base64')}`;
const OTHER = { k1: Buffer.alloc(32, 9) };

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-errors-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function problemsOf(env: Record<string, string>): readonly string[] {
  const problems: string[] = [];
  environmentProtection(env, (problem) => problems.push(problem));
  return problems;
}

it('of files of keys', async () => {
  const open = join(folder, 'open');
  await writeFile(open, entry);
  await chmod(open, 0o644);
  const large = join(folder, 'large');
  await writeFile(large, entry.repeat(30_000), { mode: 0o600 });
  const empty = join(folder, 'empty');
  await writeFile(empty, '\n', { mode: 0o400 });
  const size = entry.length * 30_000;

  expect(problemsOf({ EVERLOOP_KEYS_FILE: open })).toEqual([
    `Expected file \`${open}\` to be readable by its owner only, got mode 644. Run: chmod 600 ${open}`,
  ]);
  expect(problemsOf({ EVERLOOP_KEYS_FILE: large })).toEqual([
    `Expected file \`${large}\` to have at most 1 MB, got ${size} bytes. Name another file.`,
  ]);
  expect(problemsOf({ EVERLOOP_KEYS_FILE: empty })).toEqual([
    `Expected file \`${empty}\` to have a key, got none. Make a key: everloop keys new`,
  ]);
  expect(problemsOf({ EVERLOOP_KEYS_FILE: join(folder, 'none') })).toEqual([
    `Expected \`EVERLOOP_KEYS_FILE\` to be a file of keys, got: ENOENT: no such file or directory, stat '${join(folder, 'none')}' Correct or unset it.`,
  ]);
});

it.each([
  [
    { current: 'k1', keys: { k1: k1.subarray(1) } },
    'Expected key `k1` to be a Uint8Array of 32 bytes, got 31 bytes. Correct it.',
  ],
  [
    { current: 'k1', keys: { k1: 'text' } },
    'Expected key `k1` to be a Uint8Array of 32 bytes, got another value. Correct it.',
  ],
  [
    { current: 'k2', keys: { k1 } },
    'Expected `current` to be the id of a key (k1), got "k2". Correct it.',
  ],
  [
    { current: 'k 1', keys: { 'k 1': k1 } },
    'Expected ids of keys to be 1 to 128 letters, digits or `_.:@/+-`, got "k 1". Correct it.',
  ],
])('of the key ring %o', (options, message) => {
  const refused = expect.objectContaining({ code: 'protection', message }) as Error;
  expect(() => keyRing(options as never)).toThrow(refused);
});

it.each([
  [
    { allowUnencrypted: 'yes' },
    'Expected `allowUnencrypted` of `protection` to be true or false, got another value. Correct it.',
  ],
  [
    { blobs: {} },
    'Expected `blobs` of `protection` to be a store such as `directoryBlobs` makes, got another value. Correct it.',
  ],
])('of the options %o', (options, message) => {
  const refused = expect.objectContaining({ code: 'protection', message }) as Error;
  expect(() => protectionOf(options as never)).toThrow(refused);
});

it('of a key ring that gives something else than a key', () => {
  const asked = askKeys({ current: () => 'k1', find: () => k1.subarray(1) });

  expect(() => asked.decrypting('k1')).toThrow(
    new Error('Expected key `k1` of the key ring to have 32 bytes, got 31. Correct `find`.'),
  );
});

it('of a key that is missing, as workers and clients say it', () => {
  const ids = Array.from({ length: 12 }, (_, place) => `k${place}`);
  const named = 'k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, …';

  expect(new KeyMissingError('k', ids)).toMatchObject({
    name: 'keys_missing',
    message: `Expected key \`k\`, got keys (${named}). Set EVERLOOP_KEYS.`,
  });
  expect(unreadableError(new KeyMissingError('k', []), 'to read run `a`')).toMatchObject({
    code: 'keys_missing',
    message: 'Expected key `k` to read run `a`, got no keys. Set EVERLOOP_KEYS.',
  });
  expect(unreadableError(new KeyMissingError('k1', ['k2']), 'to read run `a`')).toMatchObject({
    code: 'keys_missing',
    message: 'Expected key `k1` to read run `a`, got keys (k2). Set EVERLOOP_KEYS.',
  });
});

it('of another key under the same id, as workers and clients say it', async () => {
  const codec = createCodec(askKeys(keyRing({ current: 'k1', keys: { k1 } })));
  const wrong = createCodec(askKeys(keyRing({ current: 'k1', keys: OTHER })));
  const encrypted = await codec.encode([defaultPayloadConverter.toPayload('tea')]);
  const message =
    'Expected a payload that key `k1` opens, got one that is damaged or that another key of this id encrypted. Give this process the right key.';

  const error: unknown = await wrong.decode(encrypted).catch((thrown: unknown) => thrown);
  const short = [{ ...(encrypted[0] as Payload), data: new Uint8Array(27) }];

  expect(error).toMatchObject({ name: 'payload_damaged', message });
  expect(unreadableError(error, 'to read run `a`')).toMatchObject({
    code: 'payload_damaged',
    message,
  });
  await expect(codec.decode(short)).rejects.toMatchObject({ name: 'payload_damaged', message });
});

it('of blob stores', () => {
  const errors = [
    new BlobMissingError('dir:/b', 'a/b/c'),
    new BlobDamagedError('dir:/b', 'a/b/c', 'other content'),
    new BlobTooLargeError(33_554_433, 33_554_432),
    new BlobStoreError('dir:/b', 'ENOSPC.'),
    new BlobUnreadableError('dir:/b', 'no answer in 60 s.'),
  ];

  expect(errors.map(({ name, message }) => `${name}: ${message}`)).toEqual([
    'blob_missing: Expected blob `a/b/c` in `dir:/b`, got none. Bring it back from a backup, or give this process the store that it was written to; until then the run waits.',
    'blob_damaged: Expected blob `a/b/c` in `dir:/b` as it was stored, got other content. Bring it back from a backup; until then the run waits.',
    'blob_too_large: Expected a payload of at most 33554432 bytes, got 33554433. Let a tool keep the data, and pass on where it is.',
    'blob_store_failed: Expected `dir:/b` to take a blob, got: ENOSPC. Repair the store; this is repeated.',
    'blob_unreadable: Expected `dir:/b` to give a blob, got: no answer in 60 s. Repair the store; until then the run waits.',
  ]);
});
