import { describe, expect, it } from 'vitest';
import { checkCount, checkGauge, checkOwnEvent } from '../../../src/core/stats/user-keys.ts';

const foreign = (key: string): string =>
  `Expected a key of your own, that starts with neither \`agent:\` nor \`$self:\`, got \`${key}\`. Rename it.`;

describe('keys of users', () => {
  it.each<{ name: string; check: () => void; message: string | null }>([
    { name: 'a step', check: () => checkCount('shop:refunds', 2), message: null },
    { name: 'a step of 0', check: () => checkCount('shop:refunds', 0), message: null },
    {
      name: 'a negative step',
      check: () => checkCount('shop:refunds', -1),
      message:
        'Expected a step of `shop:refunds` to be a whole number from 0 up, got -1. Use a gauge for values that fall.',
    },
    {
      name: 'half a step',
      check: () => checkCount('shop:refunds', 0.5),
      message:
        'Expected a step of `shop:refunds` to be a whole number from 0 up, got 0.5. Use a gauge for values that fall.',
    },
    {
      name: 'a key without colon',
      check: () => checkCount('refunds', 1),
      message:
        'Expected a key of your own to contain `:`, got `refunds`. Write it as `name:refunds`.',
    },
    {
      name: 'a key of the loop',
      check: () => checkCount('agent:iterations', 1),
      message: foreign('agent:iterations'),
    },
    {
      name: 'a twin',
      check: () => checkGauge('$self:shop:x', 1),
      message: foreign('$self:shop:x'),
    },
    { name: 'a value below 0', check: () => checkGauge('shop:x', -1.5), message: null },
    {
      name: 'a value that is no number',
      check: () => checkGauge('shop:x', NaN),
      message: 'Expected the value of `shop:x` to be a finite number, got NaN. Change it.',
    },
    {
      name: 'an event of 16 KB',
      check: () => checkOwnEvent('shop:sold', 'x'.repeat(16_382)),
      message: null,
    },
    {
      name: 'a larger event',
      check: () => checkOwnEvent('shop:sold', 'x'.repeat(16_383)),
      message:
        'Expected the data of event `shop:sold` to be at most 16384 bytes, got 16385. Send less, or a reference.',
    },
    {
      name: 'an event of the loop',
      check: () => checkOwnEvent('agent:input', null),
      message: foreign('agent:input'),
    },
  ])('[row 39] [row 47] judge $name', ({ check, message }) => {
    if (message === null) expect(check).not.toThrow();
    else expect(check).toThrow(message);
  });
});
