import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { sharedFind } from '../../src/client/streaming/chunk-endpoints.ts';

const WORKER = { url: 'http://127.0.0.1:1', token: 't' };

it('looks for workers once for readers that ask at the same time, and again later', async () => {
  let looks = 0;
  const find = sharedFind(async () => [{ ...WORKER, token: String((looks += 1)) }], 50);
  const [first, second] = await Promise.all([find(), find()]);
  expect(first).toEqual([{ ...WORKER, token: '1' }]);
  expect(second).toBe(first);
  await sleep(80);
  expect(await find()).toEqual([{ ...WORKER, token: '2' }]);
});

it('keeps no failure', async () => {
  let looks = 0;
  const find = sharedFind(async () => {
    looks += 1;
    if (looks === 1) throw new Error('the name server does not answer');
    return [WORKER];
  }, 60_000);
  await expect(Promise.all([find(), find()])).rejects.toThrow('the name server does not answer');
  expect(await find()).toEqual([WORKER]);
});
