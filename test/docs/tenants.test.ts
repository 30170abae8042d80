/** docs/tenants.md: its code is that of examples which run here, and in test/e2e/tenants.test.ts. */
import { expect, test } from 'vitest';
import { bound, limited, paced, startFor } from '../../examples/docs/tenants.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/tenants.md quotes its examples', () => {
  expect(blocksOf('tenants').size).toBe(4);
  expect(blocksOf('tenants')).toEqual(regionsOf('tenants'));
});

test('a run of a tenant, and its list', async () => {
  const asked: unknown[] = [];
  const everloop = {
    start: async (...given: unknown[]) => (asked.push(given), { id: 'acme:order-7' }),
    list: async (options: unknown) => (asked.push(options), []),
  } as unknown as Everloop;

  expect((await startFor(everloop)).run.id).toBe('acme:order-7');
  expect(asked).toEqual([
    ['clerk', { tenant: 'acme', id: 'order-7', task: 'Ship it' }],
    { tenant: 'acme' },
  ]);
});

test('what is set for a tenant', async () => {
  const set: unknown[] = [];
  const tenants = {
    set: async (...given: unknown[]) => void set.push(given),
    show: async (tenant: string) => ({ tenant }),
  };
  expect(await bound({ tenants } as unknown as Everloop)).toEqual({ tenant: 'acme' });
  expect(set).toMatchObject([['acme', { concurrency: 20, timeZone: 'Europe/Vienna' }]]);
});

test.each([paced, limited])('an entry with a rate: %o', async (entry) => {
  const agent = entry(async () => 'Shipped.');
  expect(await startInMemory({ agent, task: 'Ship it' }).result).toMatchObject({
    value: 'Shipped.',
  });
});
