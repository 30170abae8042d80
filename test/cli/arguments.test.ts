import { describe, expect, it } from 'vitest';
import {
  readCallbacks,
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

describe('callbacks on the command line', () => {
  const url = 'https://hooks.example.com/x';

  it('are addresses, or objects with options', async () => {
    expect(await readCallbacks([], '/')).toBeUndefined();
    expect(
      await readCallbacks(
        [url, `{"url": "${url}", "events": ["run.ended"], "content": true}`],
        '/',
      ),
    ).toEqual([{ url }, { url, events: ['run.ended'], content: true }]);
  });

  it.each([
    [
      ['hooks.example.com'],
      '`--on-event`: Expected `onEvent[0].url` to be an address such as https://example.com/hook, without a user name, got "hooks.example.com". Change it.',
    ],
    [
      [url, `{"url": "${url}", "events": ["ended"]}`],
      '`--on-event`: Expected `onEvent[1].events` to name types of callbacks',
    ],
    [
      ['{"url"'],
      'Expected `--on-event` to be a JSON object or `@` and the path of a file with one, got `{"url"`, which is no JSON.',
    ],
    [[url, url, url, url, url], 'Expected at most 4 callbacks in `onEvent`, got 5. Join some.'],
  ])('refuses %j', async (texts, message) => {
    await expect(readCallbacks(texts, '/')).rejects.toThrow(message);
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
