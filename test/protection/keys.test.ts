import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultPayloadConverter } from '@temporalio/common';
import { askKeys } from '../../src/protection/asked-keys.ts';
import { keyRing, type KeyRing } from '../../src/protection/key-ring.ts';
import { unreadableError } from '../../src/protection/key-errors.ts';
import { keysOfEnvironment } from '../../src/protection/keys-of-environment.ts';
import { protectionOf } from '../../src/protection/protection.ts';

const folder = mkdtempSync(join(tmpdir(), 'everloop-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const k1 = randomBytes(32);
const k2 = randomBytes(32);

describe('keys of the environment', () => {
  it('are none when nothing is set', () => {
    expect(read({})).toEqual({ keys: undefined, problems: [] });
    expect(read({ EVERLOOP_KEYS: ' ' })).toEqual({ keys: undefined, problems: [] });
  });

  it('are read in order: the first encrypts, all decrypt', async () => {
    const { keys } = read({ EVERLOOP_KEYS: `k2=${base64(k2)}, k1=${base64(k1)}` });

    expect(keys?.ids).toEqual(['k2', 'k1']);
    expect(await keys?.current()).toBe('k2');
    expect(await keys?.find('k1')).toEqual(Uint8Array.from(k1));
    expect(await keys?.find('k3')).toBeUndefined();
  });

  it('are read from a file of its owner, also one entry a line', () => {
    const file = fileOf(`k2=${base64(k2)}\nk1=${base64(k1)}\n`, 0o600);

    expect(read({ EVERLOOP_KEYS_FILE: file }).keys?.ids).toEqual(['k2', 'k1']);
    expect(read({ EVERLOOP_KEYS_FILE: fileOf(`k=${base64(k1)}`, 0o400) }).keys?.ids).toEqual(['k']);
  });

  it.each([0o644, 0o640, 0o604, 0o660])('are not read from a file with mode %o', (mode) => {
    const file = fileOf(`k1=${base64(k1)}`, mode);

    expect(read({ EVERLOOP_KEYS_FILE: file })).toEqual({
      keys: undefined,
      problems: [
        `Expected file \`${file}\` to be readable by its owner only, got mode ${mode.toString(8)}. Run: chmod 600 ${file}`,
      ],
    });
  });

  const SHAPE = 'Expected `EVERLOOP_KEYS` to be `id=base64` of 32 bytes, separated by commas, got';
  const MAKE = 'Make a key: everloop keys new';

  it.each([
    [`k1=${base64(randomBytes(31))}`, `${SHAPE} an entry of 31 bytes for \`k1\`. ${MAKE}`],
    ['k1=', `${SHAPE} an entry of 0 bytes for \`k1\`. ${MAKE}`],
    ['k1=hunter2!', `${SHAPE} an entry that is not base64 for \`k1\`. ${MAKE}`],
    [base64(k1).replace('=', ''), `${SHAPE} an entry without an id. ${MAKE}`],
    [
      `k;1=${base64(k1)}`,
      `${SHAPE} an id that is not 1 to 128 letters, digits or \`_.:@/+-\`. ${MAKE}`,
    ],
    [
      `k1=${base64(k1)},k1=${base64(k2)}`,
      'Expected key ids to be unique, got `k1` twice. Name each key once.',
    ],
    [',', `Expected \`EVERLOOP_KEYS\` to have a key, got none. ${MAKE}`],
  ])('are refused as %s', (text, problem) => {
    expect(read({ EVERLOOP_KEYS: text })).toEqual({ keys: undefined, problems: [problem] });
  });

  it('are refused when both variables are set, or the file is not there', () => {
    const both = { EVERLOOP_KEYS: `k1=${base64(k1)}`, EVERLOOP_KEYS_FILE: '/nowhere' };

    expect(read(both).problems).toEqual([
      'Expected one of `EVERLOOP_KEYS` and `EVERLOOP_KEYS_FILE`, got both. Unset one of them.',
    ]);
    expect(read({ EVERLOOP_KEYS_FILE: '/nowhere' }).problems).toEqual([
      expect.stringMatching(/^Expected `EVERLOOP_KEYS_FILE` to be a file of keys, got: ENOENT/),
    ]);
  });
});

describe('a key ring', () => {
  it.each([
    [{ current: 'k1', keys: { k1: k1.subarray(1) } }, 'key `k1` to be a Uint8Array of 32 bytes'],
    [{ current: 'k2', keys: { k1 } }, '`current` to be the id of a key (k1), got "k2"'],
    [{ current: 'k 1', keys: { 'k 1': k1 } }, 'ids of keys to be 1 to 128 letters'],
  ])('refuses %o', (options, message) => {
    expect(() => keyRing(options)).toThrow(expect.objectContaining({ code: 'protection' }));
    expect(() => keyRing(options)).toThrow(message);
  });

  it('keeps its keys when the bytes that it was made of change', async () => {
    const bytes = Uint8Array.from(k1);
    const ring = keyRing({ current: 'k1', keys: { k1: bytes } });
    bytes.fill(0);

    expect(await ring.find('k1')).toEqual(Uint8Array.from(k1));
  });
});

describe('a key ring that is asked', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    // The cache took this clock when it was loaded.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
    return () => {
      clock.mockRestore();
      vi.useRealTimers();
    };
  });

  it('is asked once at a time, and again after five minutes', async () => {
    const find = vi.fn(async (_id: string) => k1);
    const keys = askKeys({ current: async () => 'k1', find });

    await Promise.all([keys.decrypting('k1'), keys.decrypting('k1'), keys.encrypting(undefined)]);
    await keys.decrypting('k1');
    expect(find).toHaveBeenCalledTimes(1);

    vi.advanceTimersByTime(300_001);
    await keys.decrypting('k1');
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('is asked again soon for a key that it lacked, and at once after an error', async () => {
    const answers: (() => Promise<Uint8Array | undefined>)[] = [
      async () => undefined,
      () => Promise.reject(new Error('The key service is down.')),
      async () => k1,
    ];
    const find: KeyRing['find'] = () => answers.shift()?.();
    const keys = askKeys({ current: () => 'k1', find });

    await expect(keys.decrypting('k1')).rejects.toMatchObject({ name: 'keys_missing' });
    vi.advanceTimersByTime(1_001);
    await expect(keys.decrypting('k1')).rejects.toThrow('The key service is down.');
    expect(await keys.decrypting('k1')).toMatchObject({ id: 'k1' });
  });

  it('is not waited for longer than ten seconds', async () => {
    const keys = askKeys({ current: () => 'k1', find: () => new Promise(() => undefined) });
    const failed = expect(keys.decrypting('k1')).rejects.toThrow(
      'Expected the key ring to find key `k1` in 10000 ms, got no answer.',
    );
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
  });

  it('is not asked for what cannot be an id', () => {
    const find = vi.fn();
    const keys = askKeys({ current: () => 'k1', find });

    expect(() => keys.decrypting('x'.repeat(1_000))).toThrow(
      /^Expected key `x{128}`, got no keys\./,
    );
    expect(find).not.toHaveBeenCalled();
  });
});

describe('protection', () => {
  it('encrypts with the keys of the options, else of the environment, else not', async () => {
    const ring = keyRing({ current: 'own', keys: { own: k1 } });
    const environment = keyRing({ current: 'env', keys: { env: k2 } });

    expect(protectionOf({ keys: ring }, { keys: environment }).keys).toBe(ring);
    expect(protectionOf({ compress: true }, { keys: environment }).keys).toBe(environment);
    expect(protectionOf(undefined, undefined).keys).toBeUndefined();
  });

  it.each([
    [{ keys: {} }, 'Expected `keys` of `protection` to be a key ring, got another value.'],
    [
      { keyFor: 'k1' },
      'Expected `keyFor` of `protection` to be `tenant` or a function, got another value.',
    ],
    [
      { compress: 1 },
      'Expected `compress` of `protection` to be true or false, got another value.',
    ],
    [
      { key: k1 },
      'Expected options of `protection` to be `keys`, `keyFor`, `compress`, `blobs`, `allowUnencrypted`, got `key`.',
    ],
  ])('refuses the options %o', (options, message) => {
    expect(() => protectionOf(options as never, undefined)).toThrow(message);
  });
});

describe('a client without the codec', () => {
  it('says that it lacks keys, so that the inbox of others goes on', async () => {
    const payload = { metadata: { encoding: Buffer.from('binary/encrypted') }, data: k1 };
    const error = await Promise.resolve()
      .then(() => defaultPayloadConverter.fromPayload(payload))
      .catch((thrown: unknown) => thrown);

    expect(unreadableError(error, 'to read run `a`')).toMatchObject({
      code: 'keys_missing',
      message:
        'Expected a client with keys to read run `a`, got one without any. Set EVERLOOP_KEYS and use `connect`.',
    });
  });
});

function read(env: Readonly<Record<string, string>>): {
  readonly keys: KeyRing | undefined;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  return { keys: keysOfEnvironment(env, (problem) => problems.push(problem)), problems };
}

let files = 0;

function fileOf(text: string, mode: number): string {
  const file = join(folder, `keys-${(files += 1)}`);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
