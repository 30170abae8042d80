/** One attempt of a callback: its signature, where it may go, and what the reply means. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { isAllowedHost, isNotPublic, isRefusedAddress } from '../../src/http/allowed-hosts.ts';
import { deliver, type CallbackSettings } from '../../src/callbacks/deliver.ts';
import { isSecret, signedHeaders } from '../../src/callbacks/signature.ts';
import type { CallbackMessage } from '../../src/core/contract/callback.ts';
import {
  CALLBACK_SECRET,
  openReceiver,
  type CallbackReceiver,
} from '../support/callback-receiver.ts';

const receivers: CallbackReceiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function opened(): Promise<CallbackReceiver> {
  const receiver = await openReceiver();
  receivers.push(receiver);
  return receiver;
}

const SETTINGS: CallbackSettings = { secrets: [CALLBACK_SECRET] };

function messageTo(url: string): CallbackMessage {
  return {
    id: 'msg_1',
    url,
    body: {
      type: 'run.ended',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { run: 'r', root: 'r', agent: 'a', iteration: 1, status: 'success' },
    },
  };
}

function tried(url: string, settings = SETTINGS, now = Date.now()): ReturnType<typeof deliver> {
  return deliver(messageTo(url), settings, { now, signal: new AbortController().signal });
}

describe('a callback', () => {
  it('is JSON that the library of Standard Webhooks accepts', async () => {
    const receiver = await opened();

    expect(await tried(receiver.url)).toEqual({ kind: 'delivered' });

    const [got] = receiver.received;
    expect(got?.isSigned).toBe(true);
    expect(got?.body).toEqual(messageTo('').body);
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'user-agent': expect.stringMatching(/^everloop\//) as string,
    });
  });

  it('is signed with each secret, so that one can replace the other', () => {
    const other = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const content = { id: 'msg_2', timestamp: Math.floor(Date.now() / 1_000), body: '{"a":1}' };
    const headers = signedHeaders(content, [other, CALLBACK_SECRET]);

    for (const secret of [other, CALLBACK_SECRET]) {
      expect(new Webhook(secret).verify(content.body, headers)).toEqual({ a: 1 });
    }
    expect(() => new Webhook(CALLBACK_SECRET).verify('{"a":2}', headers)).toThrow();
  });

  it('is refused by the receiver when it is old', async () => {
    const receiver = await opened();
    await tried(receiver.url, SETTINGS, Date.now() - 3_600_000);

    expect(receiver.received[0]?.isSigned).toBe(false);
  });

  it.each([
    { status: 200, end: { kind: 'delivered' } },
    {
      status: 404,
      end: { kind: 'failed', message: 'Expected status 200 to 299 of HOST, got 404.' },
    },
    {
      status: 302,
      end: {
        kind: 'failed',
        message: 'Expected status 200 to 299 of HOST, got 302, and redirects are not followed.',
      },
    },
    { status: 410, end: { kind: 'gone', message: 'Expected status 200 to 299 of HOST, got 410.' } },
  ])('that is answered with $status ends as $end.kind', async ({ status, end }) => {
    const receiver = await opened();
    const elsewhere = await opened();
    receiver.answer({ status, headers: { location: elsewhere.url } });
    const delivery = await tried(receiver.url);

    const text = JSON.stringify(delivery).replaceAll(`127.0.0.1:${receiver.port}`, 'HOST');
    expect(JSON.parse(text)).toEqual(end);
    expect(elsewhere.received).toEqual([]);
  });

  it.each([
    { text: '7', ms: 7_000 },
    { text: new Date(1_700_000_060_000).toUTCString(), ms: 60_000 },
    { text: '99999999', ms: 3_600_000 },
    { text: 'soon', ms: undefined },
  ])('waits as `Retry-After: $text` asks, at most an hour', async ({ text, ms }) => {
    const receiver = await opened();
    receiver.answer({ status: 503, headers: { 'retry-after': text } });
    const delivery = await tried(receiver.url, SETTINGS, 1_700_000_000_000);

    expect(delivery).toMatchObject({ kind: 'failed' });
    expect('retryAfterMs' in delivery ? delivery.retryAfterMs : undefined).toBe(ms);
  });

  it('to a closed port fails with the cause', async () => {
    const receiver = await openReceiver();
    await receiver.close();

    expect(await tried(receiver.url)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  it('is never sent without a secret, or to a host that the operator does not name', async () => {
    const receiver = await opened();

    expect(await tried(receiver.url, { secrets: [] })).toEqual({
      kind: 'not_here',
      message: 'This worker has no `EVERLOOP_CALLBACK_SECRET`.',
    });
    expect(await tried(receiver.url, { ...SETTINGS, hosts: ['*.example.com'] })).toEqual({
      kind: 'not_here',
      message: '`EVERLOOP_CALLBACK_HOSTS` of this worker does not name 127.0.0.1.',
    });
    expect(receiver.received).toEqual([]);
  });

  it.each([
    'http://169.254.169.254/latest',
    'http://[::ffff:169.254.169.254]/',
    'http://0.0.0.0:1/',
  ])('to %s is refused before it is sent', async (url) => {
    expect(await tried(url)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('no request is sent to') as string,
    });
  });
});

it.each([
  { address: '169.254.1.1', refused: true },
  { address: 'fe80::1', refused: true },
  { address: 'fd00:ec2::254', refused: true },
  { address: '::', refused: true },
  { address: '224.0.0.1', refused: true },
  { address: 'no address', refused: true },
  { address: '10.1.2.3', refused: false },
  { address: '127.0.0.1', refused: false },
  { address: '::1', refused: false },
  { address: '93.184.216.34', refused: false },
  { address: '192.0.0.192', refused: true },
  { address: '::ffff:127.0.0.1', refused: false },
  { address: '64:ff9b::93.184.216.34', refused: false },
  { address: '64:ff9b::127.0.0.1', refused: true },
  { address: '64:ff9b:1::10.0.0.1', refused: true },
  { address: '2002:c0a8:1::1', refused: true },
  { address: '2002:5db8:d822::1', refused: false },
  { address: '2606:2800:220:1::1', refused: false },
  { address: 'fe80::1%eth0', refused: true },
])('$address is refused: $refused', ({ address, refused }) => {
  expect(isRefusedAddress(address)).toBe(refused);
});

/** IPv4 addresses that are never called. */
const refusedIpv4 = fc
  .tuple(
    fc.constantFrom([169, 254], [0, 0], [224, 0], [239, 9], [100, 100], [192, 0], [168, 63]),
    fc.nat(255),
    fc.nat(255),
  )
  .map(([head, third, last]): readonly number[] => {
    const [first] = head;
    if (first === 100) return [100, 100, 100, 200];
    if (first === 192) return [192, 0, 0, 192];
    return first === 168 ? [168, 63, 129, 16] : [...head, third, last];
  });

const hex = (bytes: readonly number[]): string =>
  bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
const group = (a = 0, b = 0): string => ((a << 8) | b).toString(16);

/** The forms of IPv6 that lead to an IPv4 address. */
const FORMS: readonly ((ip: readonly number[], any: number) => string)[] = [
  (ip) => `::ffff:${ip.join('.')}`,
  (ip) => `::${ip.join('.')}`,
  (ip) => `::ffff:0:${ip.join('.')}`,
  (ip) => `64:ff9b::${ip.join('.')}`,
  (ip, any) => `64:ff9b:1:${any.toString(16)}::${ip.join('.')}`,
  ([a, b, c, d]) => `64:ff9b:1:${group(a, b)}:${group(0, c)}:${group(d)}::`,
  ([a, b, c, d], any) => `64:ff9b:1:${group(any & 0xff, a)}:${group(0, b)}:${group(c, d)}::`,
  ([a, b, c, d], any) =>
    `64:ff9b:1:${any.toString(16)}:${group(0, a)}:${group(b, c)}:${group(d)}::`,
  ([a, b, c, d], any) => `2002:${group(a, b)}:${group(c, d)}:${any.toString(16)}::1`,
  ([a, b, c, d], any) => `2001:0:${group(a, b)}:${group(c, d)}:0:${any.toString(16)}:808:808`,
  (ip, any) =>
    `2001:0:808:808:0:${any.toString(16)}:${hex(ip.map((byte) => byte ^ 0xff)).replace(/^(....)/, '$1:')}`,
  (ip, any) => `2001:db8:${any.toString(16)}:1:0:5efe:${ip.join('.')}`,
];

it('no form of an address that is refused leads there', () => {
  const texts = fc.tuple(refusedIpv4, fc.constantFrom(...FORMS), fc.nat(0xffff), fc.nat(3));
  fc.assert(
    fc.property(texts, ([ip, form, any, spelling]) => {
      const address = form(ip, any);
      const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
      const whole = spelling === 0 ? address.toUpperCase() : spelling === 1 ? normal : address;
      expect(isRefusedAddress(whole), whole).toBe(true);
    }),
  );
});

const privateIpv4 = fc
  .tuple(
    fc.constantFrom([127], [10], [172, 31], [192, 168], [100, 64]),
    fc.infiniteStream(fc.nat(255)),
  )
  .map(([head, rest]): readonly number[] => [...head, ...rest.take(4 - head.length)]);

it('no form of a private address is public', () => {
  const texts = fc.tuple(privateIpv4, fc.constantFrom(...FORMS), fc.nat(0xffff));
  fc.assert(
    fc.property(texts, ([ip, form, any]) => {
      expect(isNotPublic(ip.join('.'))).toBe(true);
      expect(isNotPublic(form(ip, any)), form(ip, any)).toBe(true);
    }),
  );
  for (const ip of ['::1', 'fc00::1', 'fd12:3456::1', 'fec0::1'])
    expect(isNotPublic(ip)).toBe(true);
  for (const ip of ['2606:2800:220:1::1', '::ffff:93.184.216.34', '93.184.216.34'])
    expect(isNotPublic(ip)).toBe(false);
});

it('no spelling of an IPv4 address that is refused leads there', () => {
  fc.assert(
    fc.property(refusedIpv4, fc.nat(4), (ip, spelling) => {
      const [a = 0, b = 0, c = 0, d = 0] = ip;
      const texts = [
        ip.join('.'),
        String(((a * 256 + b) * 256 + c) * 256 + d),
        `0x${hex(ip)}`,
        ip.map((byte) => `0${byte.toString(8)}`).join('.'),
        `${a}.${(b * 256 + c) * 256 + d}`,
      ];
      const { hostname } = new URL(`http://${texts[spelling]}/`);
      expect(isRefusedAddress(hostname), texts[spelling]).toBe(true);
    }),
  );
});

it.each([
  { host: 'hooks.example.com', allowed: undefined, is: true },
  { host: 'hooks.example.com', allowed: ['hooks.example.com'], is: true },
  { host: 'HOOKS.example.com', allowed: ['*.Example.com'], is: true },
  { host: 'example.com', allowed: ['*.example.com'], is: false },
  { host: 'hooks.example.com.evil.org', allowed: ['hooks.example.com'], is: false },
  { host: 'evilexample.com', allowed: ['*.example.com'], is: false },
])('$host is one of $allowed: $is', ({ host, allowed, is }) => {
  expect(isAllowedHost(host, allowed)).toBe(is);
});

it.each([
  { text: CALLBACK_SECRET, is: true },
  { text: `whsec_${Buffer.alloc(23).toString('base64')}`, is: false },
  { text: `whsec_${Buffer.alloc(65).toString('base64')}`, is: false },
  { text: 'whsec_not base64', is: false },
  { text: Buffer.alloc(32).toString('base64'), is: false },
])('$text is a secret: $is', ({ text, is }) => {
  expect(isSecret(text)).toBe(is);
});
