import { describe, expect, it } from 'vitest';
import { lostBy } from '../../src/activities/lost-attempts.ts';

const asked = { totalTokens: 10, costMicroUsd: 2 };
const lost = { totalTokens: 100, costMicroUsd: 20 };

describe('what attempts lost that died with their worker', () => {
  it.each([
    ['the attempt that asked', { attempts: 1, asked }, asked],
    [
      'with what was lost before',
      { attempts: 1, asked, lost },
      { totalTokens: 110, costMicroUsd: 22 },
    ],
    ['not one that ended by itself', { attempts: 1, asked, lost, ended: true as const }, lost],
    ['not one of a worker that estimates nothing', { attempts: 1 }, undefined],
  ])('[R8] %s', (_name, last, expected) => {
    expect(lostBy(last, 2)).toEqual(expected);
  });
});
