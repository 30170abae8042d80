import { describe, expect, it } from 'vitest';
import { EMPTY_DIGEST, rollDigest } from '../../../src/core/base/digest.ts';

const roll = (...texts: readonly string[]): string => texts.reduce(rollDigest, EMPTY_DIGEST);

describe('rollDigest', () => {
  it.each([
    { name: 'no text', texts: [], digest: '811c9dc59e3779b9' },
    { name: 'empty text', texts: [''], digest: roll('') },
    { name: 'a message', texts: ['hello'], digest: roll('hello') },
  ])('gives 16 hexadecimal digits for $name', ({ texts, digest }) => {
    expect(roll(...texts)).toBe(digest);
    expect(digest).toMatch(/^[0-9a-f]{16}$/);
  });

  it('stays what it is: digests cross versions in histories', () => {
    expect(roll('hello', 'world')).toBe('6af119d5fa9a21c5');
  });

  it.each<{ name: string; left: readonly string[]; right: readonly string[] }>([
    { name: 'where a text ends', left: ['ab', 'c'], right: ['a', 'bc'] },
    { name: 'the order', left: ['a', 'b'], right: ['b', 'a'] },
    { name: 'the number of empty texts', left: [''], right: ['', ''] },
    { name: 'code units beyond 8 bits', left: ['\u0161'], right: ['\u0261'] },
    { name: 'case', left: ['A'], right: ['a'] },
  ])('tells $name', ({ left, right }) => {
    expect(roll(...left)).not.toBe(roll(...right));
  });

  it('goes on from where it stands', () => {
    expect(rollDigest(roll('a', 'b'), 'c')).toBe(roll('a', 'b', 'c'));
  });
});
