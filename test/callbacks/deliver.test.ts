/** One attempt of a callback: its signature, where it may go, and what the reply means. */
import { afterEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { isAllowedHost, isRefusedAddress } from '../../src/callbacks/allowed-hosts.ts';
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
      message: expect.stringContaining('callbacks are not sent to') as string,
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
])('$address is refused: $refused', ({ address, refused }) => {
  expect(isRefusedAddress(address)).toBe(refused);
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
