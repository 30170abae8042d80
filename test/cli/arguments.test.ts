import { describe, expect, it } from 'vitest';
import {
  readCount,
  readJsonObject,
  readLimits,
  readPort,
} from '../../src/cli/terminal/arguments.ts';

describe('limits on the command line', () => {
  it('reads numbers and unlimited', () => {
    expect(readLimits([])).toBeUndefined();
    expect(readLimits(['unlimited'])).toBe('unlimited');
    expect(readLimits(['totalTokens=200000', 'costUsd=0.5', 'iterations=unlimited'])).toEqual({
      totalTokens: 200_000,
      costUsd: 0.5,
      iterations: 'unlimited',
    });
  });

  it.each(['totalTokens', '=5', 'totalTokens=', 'totalTokens=many'])('refuses %s', (text) => {
    expect(() => readLimits([text])).toThrow(
      `Expected \`--limit\` as \`key=number\` or \`key=unlimited\`, got \`${text}\`. Write it as \`--limit totalTokens=200000\`.`,
    );
  });

  it('refuses a key that is no limit', () => {
    expect(() => readLimits(['tokens=5'])).toThrow(/got `tokens`/);
  });
});

describe('context on the command line', () => {
  it('reads an object', async () => {
    expect(await readJsonObject('--context', undefined, '/')).toBeUndefined();
    expect(await readJsonObject('--context', '{"a": [1]}', '/')).toEqual({ a: [1] });
  });

  it.each([
    ['{"a"', '`{"a"`, which is no JSON'],
    ['[1]', '`[1]`'],
    ['"text"', '`"text"`'],
    ['@/nowhere/context.json', 'the file `/nowhere/context.json`, which cannot be read'],
  ])('refuses %s', async (text, got) => {
    await expect(readJsonObject('--context', text, '/')).rejects.toThrow(
      `Expected \`--context\` to be a JSON object or \`@\` and the path of a file with one, got ${got}. ` +
        `Write it as \`--context '{"name": "value"}'\`.`,
    );
  });
});

describe('numbers on the command line', () => {
  it('reads counts and ports', () => {
    expect(readCount('--limit', '7', 1)).toBe(7);
    expect(readPort('--port', '7233')).toBe(7_233);
    expect(readPort('--port', 'free')).toBe('free');
  });

  it.each(['0', '-1', '1.5', 'x', ''])('refuses the count "%s"', (text) => {
    expect(() => readCount('--limit', text, 1)).toThrow(
      `Expected \`--limit\` to be a whole number from 1 up, got \`${text}\`. Correct it.`,
    );
  });

  it.each(['0', '65536', 'x'])('refuses the port "%s"', (text) => {
    expect(() => readPort('--port', text)).toThrow(
      `Expected \`--port\` to be a port from 1 to 65535 or \`free\`, got \`${text}\`. Correct it.`,
    );
  });
});
