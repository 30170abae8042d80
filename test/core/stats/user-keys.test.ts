import { describe, expect, test } from 'vitest';
import { checkOwnCount, checkOwnGauge, checkOwnEvent } from '../../../src/core/stats/user-keys.ts';

const ownKey = (key: string): string =>
  `Expected a key of your own, that starts with neither \`agent:\` nor \`$self:\`, got \`${key}\`. Rename it.`;

describe('[row 39] keys of users', () => {
  test.each([
    { name: 'a step of 1', check: () => checkOwnCount('shop:refunds', 1) },
    { name: 'a step of 0', check: () => checkOwnCount('shop:refunds', 0) },
    { name: 'a gauge that falls below 0', check: () => checkOwnGauge('shop:stock', -1.5) },
    { name: 'an event', check: () => checkOwnEvent('shop:sold', { id: 7 }) },
    {
      name: 'an event of 16 KB',
      check: () => checkOwnEvent('shop:sold', 'x'.repeat(16 * 1024 - 2)),
    },
  ])('allow $name', ({ check }) => {
    expect(check).not.toThrow();
  });

  test.each([
    { name: 'a count', check: () => checkOwnCount('agent:x', 1), message: ownKey('agent:x') },
    { name: 'a twin', check: () => checkOwnCount('$self:a:b', 1), message: ownKey('$self:a:b') },
    {
      name: 'a gauge',
      check: () => checkOwnGauge('agent:depth', 1),
      message: ownKey('agent:depth'),
    },
    {
      name: 'an event',
      check: () => checkOwnEvent('agent:error', null),
      message: ownKey('agent:error'),
    },
    {
      name: 'no colon',
      check: () => checkOwnCount('refunds', 1),
      message:
        'Expected a key of your own to contain `:`, got `refunds`. Write it as `name:refunds`.',
    },
    {
      name: 'a negative step',
      check: () => checkOwnCount('shop:refunds', -1),
      message:
        'Expected a step of `shop:refunds` to be a whole number from 0 up, got -1. Use a gauge for values that fall.',
    },
    {
      name: 'half a step',
      check: () => checkOwnCount('shop:refunds', 0.5),
      message:
        'Expected a step of `shop:refunds` to be a whole number from 0 up, got 0.5. Use a gauge for values that fall.',
    },
    {
      name: 'a gauge without a value',
      check: () => checkOwnGauge('shop:stock', NaN),
      message: 'Expected the value of `shop:stock` to be a finite number, got NaN. Change it.',
    },
    {
      name: 'a large event',
      check: () => checkOwnEvent('shop:sold', 'x'.repeat(16 * 1024 - 1)),
      message:
        'Expected the data of event `shop:sold` to be at most 16384 bytes, got 16385. Send less, or a reference.',
    },
  ])('refuse $name', ({ check, message }) => {
    expect(check).toThrow(expect.objectContaining({ name: 'UsageError', message }));
  });
});
