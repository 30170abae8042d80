/** docs/protection.md: its code is that of examples which run here. */
import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { expect, test } from 'vitest';
import {
  clerkWithout,
  connectWith,
  hideValues,
  keysOfService,
  protectionOfTenants,
  serverWithCodec,
} from '../../examples/docs/protection.ts';
import type { ConnectedEverloop, ConnectOptions } from '../../src/client/connect.ts';
import { keyIdOf } from '../../src/protection/codec.ts';
import { protectionOf, type ProtectionOptions } from '../../src/protection/protection.ts';
import { configOf } from '../../src/worker/config/config-of.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

const [k1, k2, k3] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;

test('docs/protection.md quotes its example', () => {
  expect(blocksOf('protection').size).toBeGreaterThan(0);
  expect(blocksOf('protection')).toEqual(regionsOf('protection'));
});

test('a client with two keys', async () => {
  const given: ConnectOptions[] = [];
  await connectWith(
    async (options) => {
      given.push(options ?? {});
      return {} as ConnectedEverloop;
    },
    k2,
    k1,
  );

  expect(await keyIdFor(given[0]?.protection, 'run')).toBe('k2');
});

test('a key for each tenant', async () => {
  const options = protectionOfTenants(k1, k2, k3);

  expect(await keyIdFor(options, 'acme:order-7')).toBe('acme');
  expect(await keyIdFor(options, 'globex:order-7/buyer')).toBe('globex');
  expect(await keyIdFor(options, 'order-7')).toBe('shared');
  await expect(keyIdFor(options, 'umbra:order-7')).rejects.toMatchObject({ name: 'keys_missing' });
});

test('keys of a key service', async () => {
  const asked: string[] = [];
  const keys = keysOfService(async (id) => (asked.push(id), k1));

  expect(await keyIdFor({ keys }, 'run')).toBe('k2');
  expect(asked).toEqual(['k2']);
});

test('a codec server in a server of your own', async () => {
  const people = new Set(['ada']);
  const app = serverWithCodec(async (c, next) => {
    if (!people.has(c.req.header('x-user') ?? '')) return c.text('no', 403);
    return next();
  });
  const asked = async (user: string): Promise<number> => {
    const init = { method: 'POST', headers: { 'x-user': user }, body: '{"payloads":[]}' };
    return (await app.request('/codec/decode', init)).status;
  };

  expect(await asked('ada')).toBe(200);
  expect(await asked('eve')).toBe(403);
});

test('a worker that hides the values of variables', async () => {
  const shown: unknown[] = [];
  const env = { STRIPE_KEY: 'a-key-of-a-service', DATABASE_URL: 'postgres://a:b@c/d' };
  await hideValues(async (options) => {
    const { secrets } = configOf({ ...options, env });
    shown.push(secrets?.hide(`a-key-of-a-service at ${encodeURIComponent(env.DATABASE_URL)}`));
  }, []);

  expect(shown).toEqual(['[redacted] at [redacted]']);
});

test('an agent whose model reads no numbers of cards', async () => {
  const script = scriptedModel(['Yes.']);
  const agent = clerkWithout(script.model);
  const step = await startInMemory({ agent, task: 'Is 4111 1111 1111 1111 known?' }).result;

  expect(step.value).toBe('Yes.');
  expect(JSON.stringify(script.requests[0]?.messages)).toContain('Is [card] known?');
});

async function keyIdFor(
  options: ProtectionOptions | undefined,
  workflowId: string,
): Promise<string | undefined> {
  const { codec } = protectionOf(options, undefined);
  const context = { type: 'workflow', namespace: 'default', workflowId } as const;
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload('x')], context);
  return keyIdOf(payload as Payload);
}
