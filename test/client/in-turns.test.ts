import { expect, it } from 'vitest';
import { inTurns } from '../../src/client/connection/in-turns.ts';

it('does work to a few at once, with results in order', async () => {
  let now = 0;
  let most = 0;
  const items = Array.from({ length: 30 }, (_, index) => index);

  const results = await inTurns(items, async (item) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now -= 1;
    return item * 2;
  });

  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(8);
});
