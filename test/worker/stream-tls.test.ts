import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { streamTlsOf } from '../../src/worker/streaming/stream-tls.ts';
import { CERTIFICATE, KEY } from '../support/certificate.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-tls-'));
  await file('cert.pem', CERTIFICATE);
  await file('key.pem', KEY);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await file('other.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
  const cipher = { cipher: 'aes-256-cbc', passphrase: 'x' };
  const locked = privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }) as string;
  await file('locked.pem', locked);
  await file('open.pem', KEY, 0o644);
  await file('large.pem', 'x'.repeat(1_048_577));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), mode);
}

const OPEN = { streamListen: { host: '0.0.0.0', port: 0 } };
const keyed = protectionOf({
  keys: keyRing({ current: 'k1', keys: { k1: randomBytes(32) } }),
});

function problemOf(cert: string, key: string): string {
  const streamTls = { cert: join(folder, cert), key: join(folder, key) };
  try {
    streamTlsOf({ ...OPEN, streamTls });
  } catch (error) {
    expect(error).toMatchObject({ code: 'stream_tls' });
    return (error as Error).message.replaceAll(folder, '');
  }
  return 'none';
}

describe('streamTlsOf', () => {
  it('reads the pair', () => {
    const streamTls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };

    const pair = { cert: CERTIFICATE, key: KEY };
    expect(streamTlsOf({ ...OPEN, streamTls })).toEqual(pair);
    expect(streamTlsOf({ ...OPEN, streamTls, protection: keyed })).toEqual(pair);
    // Nothing listens where others could ask.
    expect(streamTlsOf({ streamTls, protection: keyed })).toBeUndefined();
    expect(streamTlsOf({ streamTls, streamListen: 'off' })).toBeUndefined();
  });

  it('refuses plain HTTP for others than this machine when runs are encrypted', () => {
    for (const host of [
      '0.0.0.0',
      '::',
      '10.1.2.3',
      'localhost.example.com',
      '127.0.0.1.example.com',
    ]) {
      expect(() => streamTlsOf({ streamListen: { host, port: 1 }, protection: keyed })).toThrow(
        /^Expected TLS for readers of provisional text at .*, because runs are encrypted, got plain HTTP\. Set `EVERLOOP_STREAM_TLS`/,
      );
    }
    for (const host of ['127.0.0.1', 'localhost', '::1']) {
      expect(streamTlsOf({ streamListen: { host, port: 1 }, protection: keyed })).toBeUndefined();
    }
    expect(streamTlsOf(OPEN)).toBeUndefined();
    expect(streamTlsOf({ ...OPEN, protection: protectionOf({}) })).toBeUndefined();
  });

  it.each([
    [
      'none.pem',
      'key.pem',
      'Expected the certificate of `EVERLOOP_STREAM_TLS` to be a file, got: ENOENT',
    ],
    ['cert.pem', 'none.pem', 'Expected the key of `EVERLOOP_STREAM_TLS` to be a file, got: ENOENT'],
    ['', 'key.pem', 'Expected the certificate of `EVERLOOP_STREAM_TLS` to be a file, got: EISDIR'],
    [
      'cert.pem',
      'open.pem',
      'to be readable by its owner only, got mode 644. Run: chmod 600 /open.pem',
    ],
    [
      'cert.pem',
      'other.pem',
      'Expected the key in `/other.pem` to belong to the certificate in `/cert.pem`, got that of another.',
    ],
    [
      'key.pem',
      'key.pem',
      'Expected file `/key.pem` to have a certificate in PEM form, got something else.',
    ],
    [
      'cert.pem',
      'cert.pem',
      'Expected file `/cert.pem` to have a private key without a passphrase in PEM form',
    ],
    [
      'cert.pem',
      'locked.pem',
      'Expected file `/locked.pem` to have a private key without a passphrase in PEM form',
    ],
    ['large.pem', 'key.pem', 'Expected file `/large.pem` to have at most 1 MB, got 1048577 bytes.'],
  ])('refuses certificate %j with key %j', (cert, key, problem) => {
    const got = problemOf(cert, key);

    expect(got).toContain(problem);
    expect(got).not.toContain('MIGH');
  });
});
