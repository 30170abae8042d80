import { describe, expect, it } from 'vitest';
import {
  keyOf,
  MAX_STREAM_TOKEN_MS,
  signatureOf,
  signStreamToken,
} from '../../src/protection/stream-token.ts';
import { readerAccess } from '../../src/worker/streaming/reader-access.ts';

const [FIRST, SECOND] = ['first-token-of-readers', 'second-token-of-readers'];
const ROOT = '019a0000-0000-7000-8000-000000000001';
const NOW = 1_800_000_000_000;

const access = readerAccess(`${FIRST}, ${SECOND}`);
const bearer = (token: string, now = NOW) => access(`Bearer ${token}`, now);

/** A scoped token that is made by hand. */
function made(rootRunId: string, seconds: number | string, secret = FIRST): string {
  const signed = `els1.${rootRunId}.${seconds}`;
  return `${signed}.${signatureOf(signed, keyOf(secret))}`;
}

describe('readerAccess', () => {
  it('lets each reader token see everything, and nothing else', () => {
    expect([FIRST, SECOND].map((token) => bearer(token))).toEqual(['all', 'all']);
    const wrong = ['', 'x', `${FIRST},${SECOND}`, FIRST.slice(1), `${FIRST} `, FIRST.toUpperCase()];
    expect(wrong.map((token) => bearer(token))).toEqual(wrong.map(() => null));
    expect(
      [undefined, '', FIRST, `bearer ${FIRST}`, `Basic ${FIRST}`].map((it) => access(it, NOW)),
    ).toEqual([null, null, null, null, null]);
  });

  it('lets nobody in when it has no token', () => {
    expect([' ', ',', ''].map((readers) => readerAccess(readers)('Bearer '))).toEqual([
      null,
      null,
      null,
    ]);
    const { token } = signStreamToken({ rootRunId: ROOT, readers: FIRST, now: NOW });
    expect(readerAccess('')(`Bearer ${token}`, NOW)).toBeNull();
  });

  it('takes a scoped token of any reader token until it expires', () => {
    for (const readers of [FIRST, SECOND, `${FIRST},unknown-to-workers`]) {
      const { token, expiresAt } = signStreamToken({
        rootRunId: ROOT,
        ttlMs: 60_000,
        readers,
        now: NOW,
      });
      expect(expiresAt).toBe(NOW + 60_000);
      expect(bearer(token)).toEqual({ rootRunId: ROOT, expiresAt });
      expect(bearer(token, expiresAt - 1)).toEqual({ rootRunId: ROOT, expiresAt });
      expect([expiresAt, expiresAt + 1].map((now) => bearer(token, now))).toEqual([null, null]);
    }
  });

  it('refuses what no reader token of its own has signed', () => {
    const { token } = signStreamToken({ rootRunId: ROOT, readers: FIRST, now: NOW });
    const [form, root, seconds, signature] = token.split('.') as [string, string, string, string];
    const other = ROOT.replace(/1$/, '2');
    const forged = [
      `${form}.${other}.${seconds}.${signature}`,
      `${form}.${root}.${Number(seconds) + 1}.${signature}`,
      `${form}.${root}.0${seconds}.${signature}`,
      `${form}.${root}-child.${seconds}.${signature}`,
      `${form}.${root.slice(0, -1)}.${seconds}.${signature}`,
      `${form}.${root}.${seconds}.${'A'.repeat(43)}`,
      `${form}.${root}.${seconds}.${signature}=`,
      `${form}.${root}.${seconds}.`,
      `${form}.${root}.${seconds}`,
      `els2.${root}.${seconds}.${signature}`,
      `${token} `,
      ` ${token}`,
      `${token}\n`,
      `${token}.${signature}`,
      `${form}.${'x'.repeat(15_000)}.${seconds}.${signature}`,
      token.replace('.', '\u2024'),
      `${form}.${root}.\u0661\u0662.${signature}`,
      made(ROOT, seconds, 'not-a-token-of-them'),
      // Signed with the reader token itself in place of the key that is derived from it.
      `els1.${root}.${seconds}.${signatureOf(`els1.${root}.${seconds}`, Buffer.from(FIRST))}`,
    ];
    expect(forged.filter((one) => bearer(one) !== null)).toEqual([]);
    expect(bearer(made(ROOT, seconds))).not.toBeNull();
  });

  it('refuses a token of a longer life than it may have, whoever signed it', () => {
    const last = (NOW + MAX_STREAM_TOKEN_MS) / 1_000;
    expect(bearer(made(ROOT, last))).not.toBeNull();
    // The clock of the signer may be some minutes ahead.
    expect(bearer(made(ROOT, last + 300))).not.toBeNull();
    for (const seconds of [last + 301, 99_999_999_999, '1e9', '-1', '', '0']) {
      expect(bearer(made(ROOT, seconds))).toBeNull();
    }
  });
});

describe('signStreamToken', () => {
  it('shows nothing of the reader token', () => {
    const { token } = signStreamToken({ rootRunId: ROOT, readers: FIRST, now: NOW });

    expect(token).toMatch(/^els1\.[\w-]{36}\.\d{10}\.[\w-]{43}$/);
    expect(token).not.toContain(keyOf(FIRST).toString('base64url'));
  });

  it.each([999, 0, -1, NaN, Infinity, MAX_STREAM_TOKEN_MS + 1])(
    'refuses a life of %d ms',
    (ttlMs) => {
      expect(() => signStreamToken({ rootRunId: ROOT, ttlMs, readers: FIRST })).toThrow(
        `Expected the life of a stream token to be from 1 s to 24 h, got ${ttlMs} ms. Choose another.`,
      );
    },
  );

  it.each([undefined, '', ' , '])('refuses to sign with %j', (readers) => {
    expect(() => signStreamToken({ rootRunId: ROOT, readers })).toThrow(
      'Expected the token of the workers to sign with, got none. Set `EVERLOOP_STREAM_TOKEN` to the value that the workers have.',
    );
  });
});
