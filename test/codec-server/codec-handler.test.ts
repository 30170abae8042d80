import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, ExternalStorage, type Payload } from '@temporalio/common';
import { ExternalStorageRunner } from '@temporalio/common/lib/internal-non-workflow/index.js';
import fc from 'fast-check';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codecHandler } from '../../src/codec-server/codec-handler.ts';
import { toWire } from '../../src/codec-server/wire.ts';
import { directoryBlobs } from '../../src/protection/blobs/directory-blobs.ts';
import { keyRing, type KeyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { RUNS_ALL } from '../support/extent.ts';

const k1 = Buffer.alloc(32, 1);
const k2 = Buffer.alloc(32, 2);
const keys = keyRing({ current: 'k2', keys: { k1, k2 } });
const old = keyRing({ current: 'k1', keys: { k1 } });
const UI = 'http://localhost:8233';
const TOKEN = 'a-token-of-sixteen';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-codec-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const handler = codecHandler({ protection: { keys }, origins: [UI], env: {} });

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly payloads: readonly object[];
}

async function ask(
  path: string,
  body?: unknown,
  { headers = {}, method = 'POST', to = handler }: Asking = {},
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = new Request(`http://127.0.0.1:7246${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-namespace': 'default', ...headers },
    ...(method === 'POST' ? { body: text ?? '' } : {}),
  });
  const response = await to(request);
  const answered = await response.text();
  const payloads =
    response.status === 200
      ? (JSON.parse(answered) as { readonly payloads: readonly object[] }).payloads
      : [];
  return { status: response.status, text: answered, headers: response.headers, payloads };
}

interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly to?: typeof handler;
}

const plain = (value: unknown): object => toWire(defaultPayloadConverter.toPayload(value));

async function sealed(value: unknown, ring: KeyRing = keys): Promise<object> {
  const { codec } = protectionOf({ keys: ring });
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)]);
  return toWire(payload as Payload);
}

describe('a codec server', () => {
  it('decrypts what the web UI sends, and leaves other payloads as they are', async () => {
    const other = { ...plain('text'), externalPayloads: [], more: 'kept' };
    const payloads = [await sealed({ secret: 'tea' }), other, await sealed('old', old)];

    const answer = await ask('/decode?preserveStorageRefs=true', { payloads });

    expect(answer.payloads).toEqual([plain({ secret: 'tea' }), other, plain('old')]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
  });

  it('encrypts with the current key, and decrypts that again, below a namespace too', async () => {
    const { payloads } = await ask('/payments.a8x72/encode', { payloads: [plain('tea')] });
    const [encrypted] = payloads as readonly { readonly metadata: Record<string, string> }[];

    expect(textOf(encrypted?.metadata['encoding'])).toBe('binary/encrypted');
    expect(textOf(encrypted?.metadata['encryption-key-id'])).toBe('k2');
    expect((await ask('/payments.a8x72/decode', { payloads })).payloads).toEqual([plain('tea')]);
  });

  it('leaves payloads whose key is missing, and damaged ones, and opens the others', async () => {
    const to = codecHandler({ protection: { keys: old }, env: {} });
    const foreign = await sealed('new');
    const whole = (await sealed('old', old)) as { readonly data: string };
    const damaged = { ...whole, data: `AAAA${whole.data.slice(4)}` };
    const payloads = [foreign, damaged, whole];

    expect((await ask('/decode', { payloads }, { to })).payloads).toEqual([
      foreign,
      damaged,
      plain('old'),
    ]);
  });

  it('fails, so that clients try again, while the key service does not answer', async () => {
    const failing: KeyRing = {
      current: () => 'k1',
      find: () => Promise.reject(new Error('The key service is away.')),
    };
    const to = codecHandler({ protection: { keys: failing }, env: {} });
    const payloads = [await sealed('old', old)];

    for (const path of ['/decode', '/encode']) {
      expect(await ask(path, { payloads }, { to })).toMatchObject({
        status: 502,
        text: 'The key service is away.\n',
      });
    }
  });

  it('answers nothing else', async () => {
    const payloads = [plain(1)];
    for (const path of ['/', '/health', '/a/b/decode', '/decode/', '/constructor', '/toString']) {
      expect(await ask(path, { payloads }), path).toMatchObject({
        status: 404,
        text: 'Expected the path /decode, /encode or /download.\n',
      });
    }
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await ask('/decode', undefined, { method });
      expect(answer).toMatchObject({ status: 405, text: 'Expected POST.\n' });
      expect(answer.headers.get('allow')).toBe('POST');
    }
  });

  it('answers pages of its web UI alone', async () => {
    const body = { payloads: [plain(1)] };
    const own = await ask('/decode', body, { headers: { origin: UI } });
    const preflight = await ask('/decode', undefined, {
      method: 'OPTIONS',
      headers: {
        origin: UI,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });

    expect(own.status).toBe(200);
    expect(own.headers.get('access-control-allow-origin')).toBe(UI);
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': UI,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,authorization-extras,content-type,x-namespace',
      'access-control-allow-credentials': 'true',
    });
    for (const origin of ['https://evil.example', 'null', `${UI}.evil.example`]) {
      for (const method of ['POST', 'OPTIONS']) {
        const answer = await ask('/decode', body, { headers: { origin }, method });
        expect(answer).toMatchObject({
          status: 403,
          text: 'Expected a page of an allowed origin. Allow it with --origin.\n',
        });
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
    }
  });

  it('asks for its token, but not in a preflight', async () => {
    const token = `another-of-sixteen, ${TOKEN}`;
    const to = codecHandler({ protection: { keys }, origins: [UI], token, env: {} });
    const body = { payloads: [plain(1)] };
    const wrong = [undefined, TOKEN, `Bearer ${TOKEN}x`, `bearer ${TOKEN}`, 'Bearer '];

    for (const authorization of wrong) {
      const headers = authorization === undefined ? {} : { authorization };
      expect(await ask('/decode', body, { to, headers })).toMatchObject({
        status: 401,
        text: 'Expected the token of this codec server.\n',
      });
    }
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await ask('/decode', body, { to, headers })).status).toBe(200);
    const preflight = { to, method: 'OPTIONS', headers: { origin: UI } };
    expect((await ask('/decode', undefined, preflight)).status).toBe(204);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['a number for payloads', '{"payloads":1}'],
    ['null as a payload', '{"payloads":[null]}'],
    ['a list as metadata', '{"payloads":[{"metadata":[]}]}'],
    ['a number in metadata', '{"payloads":[{"metadata":{"encoding":1}}]}'],
    ['no base64 in metadata', '{"payloads":[{"metadata":{"encoding":"{}"}}]}'],
    ['no base64 as data', '{"payloads":[{"data":"?"}]}'],
    ['lists in lists', '['.repeat(100_000)],
  ])('refuses %s', async (_what, body) => {
    for (const path of ['/decode', '/encode', '/download']) {
      expect(await ask(path, body)).toMatchObject({ status: 400, text: FORM });
    }
  });

  it('takes at most 16 MB and 4,096 payloads', async () => {
    const payloads = (count: number): object => ({ payloads: Array(count).fill({}) });
    const padded = (bytes: number): string => `{"payloads":[]${' '.repeat(bytes - 15)}}`;

    expect((await ask('/decode', payloads(4_096))).payloads).toHaveLength(4_096);
    expect(await ask('/decode', payloads(4_097))).toMatchObject({
      status: 413,
      text: 'Expected at most 4096 payloads, got 4097. Send them in several requests.\n',
    });
    expect((await ask('/decode', padded(16_777_216))).status).toBe(200);
    expect(await ask('/decode', padded(16_777_217))).toMatchObject({
      status: 413,
      text: 'Expected a body of at most 16777216 bytes.\n',
    });
  });

  it.runIf(RUNS_ALL)('opens at most 64 MB for one answer', async () => {
    const { codec } = protectionOf({ keys, compress: true });
    const big = { metadata: {}, data: Buffer.alloc(30_000_000) };
    const encrypted = (await codec.encode([big, big, big])).map(toWire);

    const { payloads } = await ask('/decode', { payloads: encrypted.slice(0, 2) });
    const sizes = payloads.map((payload) => JSON.stringify(payload).length);
    expect(sizes.map((size) => size > 30_000_000)).toEqual([true, true]);

    expect(await ask('/decode', { payloads: encrypted })).toMatchObject({
      status: 413,
      text: 'Expected at most 67108864 bytes once opened.\n',
    });
  });

  it('answers any garbage, changes nothing of the process, and stays up', async () => {
    const names = fc.constantFrom(
      '__proto__',
      'constructor',
      'encoding',
      'encryption-cipher',
      'encryption-key-id',
      'x',
    );
    const bytes = fc.oneof(
      fc.uint8Array().map((data) => Buffer.from(data).toString('base64')),
      fc.constantFrom(...['binary/encrypted', 'aes-256-gcm', 'k1', 'json/protobuf'].map(base64)),
      fc.string(),
      fc.jsonValue(),
    );
    const payload = fc.oneof(
      fc.record(
        { metadata: fc.dictionary(names, bytes), data: bytes, externalPayloads: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    );
    const body = fc.oneof(
      fc.record({ payloads: fc.array(payload) }).map((value) => JSON.stringify(value)),
      fc.json(),
      fc.string(),
    );
    const path = fc.constantFrom('/decode', '/encode', '/download', '/a/decode');
    await fc.assert(
      fc.asyncProperty(path, body, async (at, text) => {
        expect([200, 400, 422]).toContain((await ask(at, text)).status);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
    expect((await ask('/decode', { payloads: [await sealed('tea')] })).payloads).toEqual([
      plain('tea'),
    ]);
  });

  it('is mounted in a server', async () => {
    const app = new Hono();
    app.mount('/codec', handler);
    const to = async (request: Request): Promise<Response> => app.fetch(request);

    expect(
      (await ask('/codec/decode', { payloads: [await sealed('tea')] }, { to })).payloads,
    ).toEqual([plain('tea')]);
    expect((await ask('/decode', { payloads: [] }, { to })).status).toBe(404);
  });

  it.each(['*', 'https://ui.example/', 'ui.example', ''])('refuses origin %j', (origin) => {
    expect(() => codecHandler({ origins: [origin], env: {} })).toThrow(
      `Expected an origin such as \`https://ui.example\`, got ${JSON.stringify(origin)}. Leave out the path, and name no wildcard.`,
    );
  });

  it('takes the keys of the environment, and says what is wrong with them', async () => {
    const env = { EVERLOOP_KEYS: `k2=${k2.toString('base64')}` };
    const to = codecHandler({ env });

    expect((await ask('/decode', { payloads: [await sealed('tea')] }, { to })).payloads).toEqual([
      plain('tea'),
    ]);
    expect(() => codecHandler({ env: { EVERLOOP_KEYS: 'k1' } })).toThrow(
      'Expected `EVERLOOP_KEYS` to be `id=base64` of 32 bytes, separated by commas, got an entry without an id. Make a key: everloop keys new',
    );
  });
});

describe('a codec server with a blob store', () => {
  it('keeps references for the web UI, and reads blobs for others and for downloads', async () => {
    const { reference, to } = await stored('x'.repeat(300_000));
    const payloads = [reference];

    const kept = await ask('/decode?preserveStorageRefs=true', { payloads }, { to });
    expect(kept.payloads).toEqual(payloads);
    const whole = [plain('x'.repeat(300_000))];
    expect((await ask('/decode', { payloads }, { to })).payloads).toEqual(whole);
    expect((await ask('/download', { payloads }, { to })).payloads).toEqual(whole);
  });

  it('leaves a reference that leads nowhere, and a download says so', async () => {
    const { reference, to, place } = await stored('y'.repeat(300_000));
    await rm(place, { recursive: true });
    const payloads = [reference];

    expect((await ask('/decode', { payloads }, { to })).payloads).toEqual(payloads);
    const answer = await ask('/download', { payloads }, { to });
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/^Expected blob `\S+` in `dir:\S+`, got none\. Bring it back/);
  });

  it('names what a download lacks', async () => {
    const { reference } = await stored('z'.repeat(300_000));

    expect(await ask('/download', { payloads: [reference] })).toMatchObject({
      status: 422,
      text: 'Expected the blob store of this payload. Set EVERLOOP_BLOBS.\n',
    });
    expect(await ask('/download', { payloads: [plain(1)] })).toMatchObject({
      status: 400,
      text: 'Expected references to external storage, got other payloads.\n',
    });
    const broken = { ...reference, data: base64('{') };
    expect(await ask('/download', { payloads: [broken] })).toMatchObject({
      status: 422,
      text: 'Expected a reference to external storage, got an invalid one.\n',
    });
    expect((await ask('/decode', { payloads: [broken] })).payloads).toEqual([broken]);
  });

  it('stores nothing that it encrypts', async () => {
    const path = join(folder, 'empty');
    const to = codecHandler({ protection: { keys, blobs: directoryBlobs(path) }, env: {} });

    const answer = await ask('/encode', { payloads: [plain('x'.repeat(300_000))] }, { to });

    expect(answer.payloads).toHaveLength(1);
    await expect(readdir(path)).rejects.toThrow('ENOENT');
  });
});

/** A payload in a store, by the SDK's own way. */
async function stored(text: string): Promise<{
  readonly reference: { readonly data: string };
  readonly to: typeof handler;
  readonly place: string;
}> {
  const place = await mkdtemp(join(folder, 'blobs-'));
  const protection = { keys, blobs: directoryBlobs(place) };
  const { codec, blobs } = protectionOf(protection);
  const storage = new ExternalStorage({
    drivers: blobs === undefined ? [] : [blobs.driver],
    payloadSizeThreshold: 1_000,
  });
  const encrypted = await codec.encode([defaultPayloadConverter.toPayload(text)]);
  const target = { kind: 'workflow' as const, namespace: 'default', id: 'run-1' };
  const [payload] = await new ExternalStorageRunner(storage).store(encrypted, { target });
  const { externalPayloads } = payload as Payload;
  const sizes = (externalPayloads ?? []).map(({ sizeBytes }) => ({ sizeBytes: String(sizeBytes) }));
  const reference = { ...toWire(payload as Payload), externalPayloads: sizes };
  return {
    reference: reference as unknown as { readonly data: string },
    to: codecHandler({ protection, env: {} }),
    place,
  };
}

const FORM =
  'Expected `{ "payloads": [{ "metadata": { "encoding": "BASE64" }, "data": "BASE64" }] }`.\n';

function textOf(text = ''): string {
  return Buffer.from(text, 'base64').toString();
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
