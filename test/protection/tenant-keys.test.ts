import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { keyIdOf } from '../../src/protection/codec.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { environmentProtection, protectionOf } from '../../src/protection/protection.ts';
import type { Protection } from '../../src/protection/protection.ts';
import { configOf } from '../../src/worker/config/config-of.ts';

const key = (byte: number): Buffer => Buffer.alloc(32, byte);
const KEYS = ['shared', 'acme/2', 'acme/1', 'acmes', 'globex']
  .map((id, at) => `${id}=${key(at + 1).toString('base64')}`)
  .join(',');
const ENV = { EVERLOOP_KEYS: KEYS, EVERLOOP_KEY_FOR: 'tenant' };

const ofEnvironment = (env: Readonly<Record<string, string>>): Protection =>
  protectionOf(
    undefined,
    environmentProtection(env, (problem) => expect.fail(problem)),
  );

async function keyOf({ codec }: Protection, workflowId: string): Promise<string | undefined> {
  const context = { type: 'workflow', namespace: 'default', workflowId } as const;
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload('x')], context);
  return keyIdOf(payload as Payload);
}

describe('EVERLOOP_KEY_FOR=tenant', () => {
  it.each([
    ['acme:order-7', 'acme/2'],
    ['acme:order-7/buyer:1', 'acme/2'],
    ['acmes:order-7', 'acmes'],
    ['globex:', 'globex'],
    ['order-7', 'shared'],
    [':order-7', 'shared'],
    ['~tenant:acme', 'acme/2'],
    ['~rate:acme/m', 'shared'],
    ['~rate:tenant~acme', 'shared'],
    ['acme:~callbacks-1', 'acme/2'],
    // What has no tenant: a name that none can have, and the time of a schedule's run.
    ['acme/2 :x', 'shared'],
    ['nightly-2026-11-28T12:00:00Z', 'shared'],
    ['nightly-2026-11-28T12:00:00Z/1.2', 'shared'],
    ['acme:nightly-2026-11-28T12:00:00Z', 'acme/2'],
  ])('a run `%s` has key %s', async (id, expected) => {
    expect(await keyOf(ofEnvironment(ENV), id)).toBe(expected);
  });

  it('takes no other key for a tenant without one', async () => {
    await expect(keyOf(ofEnvironment(ENV), 'umbra:order-7')).rejects.toMatchObject({
      name: 'keys_missing',
      message: expect.stringContaining('Expected key `umbra`, got keys (shared, acme/2') as string,
    });
  });

  it('holds for keys of code, unless code chooses otherwise', async () => {
    const environment = { keyFor: 'tenant' } as const;
    const keys = keyRing({ current: 'k1', keys: { k1: key(1), acme: key(2) } });

    expect(await keyOf(protectionOf({ keys }, environment), 'acme:a')).toBe('acme');
    const chosen = protectionOf({ keys, keyFor: () => undefined }, environment);
    expect(await keyOf(chosen, 'acme:a')).toBe('k1');
    expect(await keyOf(protectionOf({ keys }), 'acme:a')).toBe('k1');
  });

  it('asks a ring that names no ids for the key of the tenant', async () => {
    const keys = { current: () => 'k1', find: (id: string) => (id === 'acme' ? key(2) : key(1)) };

    expect(await keyOf(protectionOf({ keys, keyFor: 'tenant' }), 'acme:a')).toBe('acme');
  });

  it('is read by workers and commands, also beside options', async () => {
    const { protection } = configOf({ env: ENV });
    const beside = configOf({ env: ENV, protection: { compress: true } }).protection;

    for (const read of [protection, beside]) {
      expect(await keyOf(read as Protection, 'acme:order-7')).toBe('acme/2');
    }
  });

  it('refuses another rule', () => {
    const problems: string[] = [];
    environmentProtection({ EVERLOOP_KEY_FOR: 'prefix' }, (problem) => problems.push(problem));

    expect(problems).toEqual([
      'Expected `EVERLOOP_KEY_FOR` to be `tenant`, got `prefix`. Correct or unset it.',
    ]);
  });
});
