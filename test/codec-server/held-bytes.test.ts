import { expect, it } from 'vitest';
import { holdBytes } from '../../src/codec-server/held-bytes.ts';

const MB_128 = 134_217_728;

it('bounds what all requests hold at the same time, and gives back what ends', () => {
  const begin = holdBytes();
  const [first, second, third] = [begin(), begin(), begin()];
  first.take(MB_128);
  second.take(MB_128);

  expect(() => third.take(1)).toThrow('Too much is asked for at once. Try again later.');
  second.release();
  second.release();
  third.take(MB_128);
  expect(() => begin().take(1)).toThrow(expect.objectContaining({ status: 503 }));
  first.release();
  third.release();
  const last = begin();
  last.take(2 * MB_128);
  last.release();
  // A client that has left holds nothing, though its request is still being answered.
  last.take(2 * MB_128);
  begin().take(2 * MB_128);
});
