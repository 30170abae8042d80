import { describe, expect, it } from 'vitest';
import {
  isKnownMessage,
  MAX_KNOWN,
  withKnownMessage,
} from '../../../src/core/conversation/said.ts';

describe('the memory for ids of messages', () => {
  it('knows each of the last ones, and no other', () => {
    let known = '';
    for (let n = 0; n < MAX_KNOWN + 50; n++) known = withKnownMessage(known, `message ${n}`);

    const isKnown = (n: number): boolean => isKnownMessage(known, `message ${n}`);
    expect([0, 49].map(isKnown)).toEqual([false, false]);
    expect([50, 51, 5_000, MAX_KNOWN + 49].map(isKnown)).toEqual([true, true, true, true]);
    expect([MAX_KNOWN + 50, -1].map(isKnown)).toEqual([false, false]);
  });

  it('stays within 120 KB, whatever the ids are', () => {
    let known = '';
    for (let n = 0; n < MAX_KNOWN * 2; n += 97) known = withKnownMessage(known, 'x'.repeat(n));
    expect(known.length).toBeLessThanOrEqual(120_000);
  });
});
