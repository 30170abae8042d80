import { describe, expect, it } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { hideFailures } from '../../src/activities/hide-failures.ts';
import type { EverloopActivities } from '../../src/activities/activity-types.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { hideIn, HIDE_NOTHING } from '../../src/core/text/hide.ts';
import { redact } from '../../src/core/text/redact.ts';
import { cut } from '../../src/core/text/cut.ts';
import { secretValues } from '../../src/protection/secret-values.ts';

const VALUE = 'sk_live_51H"x\\y/ä+é';
const OTHER = 'hunter2-hunter2';

function hiding(...values: readonly string[]): (text: string) => string {
  const env = Object.fromEntries(values.map((value, index) => [`SECRET_${index}`, value]));
  const problems: string[] = [];
  const found = secretValues(Object.keys(env), env, (problem) => problems.push(problem));
  expect(problems).toEqual([]);
  return found.hide;
}

function problemsOf(names: readonly string[], env: Record<string, string>): readonly string[] {
  const problems: string[] = [];
  secretValues(names, env, (problem) => problems.push(problem));
  return problems;
}

describe('secretValues', () => {
  const hide = hiding(VALUE, OTHER);

  it.each([
    ['as it is', VALUE],
    ['in JSON', JSON.stringify({ key: VALUE })],
    ['in JSON in JSON', JSON.stringify({ body: JSON.stringify({ key: OTHER }) })],
    ['in an address', `https://a.example/?key=${encodeURIComponent(VALUE)}&x=1`],
    ['twice', `${VALUE}${VALUE}`],
    ['beside another', `${OTHER}${VALUE}`],
  ])('hides a value %s', (_name, text) => {
    const hidden = hide(`before ${text} after`);

    expect(hidden).toMatch(/^before .*\[redacted\].* after$/);
    for (const value of [VALUE, OTHER, 'sk_live', 'hunter2', encodeURIComponent(VALUE)]) {
      expect(hidden).not.toContain(value);
    }
  });

  it.each(['base64', 'base64url'] as const)(
    'hides a value in %s, wherever it begins there',
    (alphabet) => {
      for (const before of ['', 'u', 'us', 'use', 'user:', 'user1:']) {
        for (const after of ['', ':', ':x', ':xyz']) {
          const text = Buffer.from(`${before}${VALUE}${after}`).toString(alphabet);
          const hidden = hide(`Basic ${text}`);
          expect(hidden).toContain('[redacted]');
          const decoded = Buffer.from(
            hidden.slice(6).replace('[redacted]', ''),
            alphabet,
          ).toString();
          expect(decoded).not.toContain(VALUE.slice(2, 10));
        }
      }
    },
  );

  it('does not touch other texts', () => {
    const texts = ['', 'hunter2', 'a$1\\b', 'x'.repeat(100_000), 'sk_live_51h', '\ud800'];

    expect(texts.map(hide)).toEqual(texts);
  });

  it('keeps no beginning of a value in which a text was cut', () => {
    for (let length = 8; length < OTHER.length; length++) {
      const part = OTHER.slice(0, length);
      expect(hide(`it said ${part}…`)).toBe('it said [redacted]…');
      expect(hide(cut(`it said ${OTHER}`, 8 + length))).toMatch(/^it said \[redacted\]\n\[cut: /);
      // Not cut: the text ends by itself.
      expect(hide(`it said ${part}`)).toBe(`it said ${part}`);
    }
    const long = `${'x '.repeat(990)}${OTHER}${' y'.repeat(100)}`;
    expect(hide(redact(long))).not.toContain('hunter2');
  });

  it('takes a value that is a pattern as a text', () => {
    const hidden = hiding('.*.*.*.*', '(a+)+$(a+)+$', '[^]{9}-[a]');
    expect(hidden('any text at all')).toBe('any text at all');
    expect(hidden('(a+)+$(a+)+$ .*.*.*.* [^]{9}-[a]')).toBe('[redacted] [redacted] [redacted]');
  });

  it('ends soon with the longest list, and with values that begin alike', () => {
    const alike = Array.from({ length: 50 }, (_, index) => `${'a'.repeat(40 + index)}b`);
    const text = 'a'.repeat(50_000);
    expect(hiding(...alike)(text)).toBe(text);
    expect(hiding(...alike)(`${'a'.repeat(60)}b`)).toMatch(/^\[redacted\]$|^a*\[redacted\]$/);
  });

  it('hides the names and the texts of JSON', () => {
    const value = { [OTHER]: [OTHER, 1, null, { deep: `x${VALUE}` }], kept: true };

    expect(hideIn(value, hide)).toEqual({
      '[redacted]': ['[redacted]', 1, null, { deep: 'x[redacted]' }],
      kept: true,
    });
    expect(hideIn(value, HIDE_NOTHING)).toBe(value);
  });

  it('says which names are not set', () => {
    const found = secretValues(['A', 'B', 'B'], { A: ' \n' }, () => undefined);

    expect(found.unset).toEqual(['A', 'B']);
    expect(found.hide).toBe(HIDE_NOTHING);
  });

  it('trims the line break of a file', () => {
    expect(hiding('a-value-of-a-file\n')('a-value-of-a-file.')).toBe('[redacted].');
  });

  it.each([
    [
      ['PIN'],
      { PIN: '1234567' },
      'Expected the value of secret `PIN` to have 8 to 8192 characters, got 7. Take another, or take the name out of `secrets`.',
    ],
    [
      ['BIG'],
      { BIG: 'x'.repeat(8_193) },
      'Expected the value of secret `BIG` to have 8 to 8192 characters, got 8193. Take another, or take the name out of `secrets`.',
    ],
    [
      ['sk_live_51H-a-value'],
      {},
      'Expected `secrets` to be names of environment variables, got another text. Give the names, not the values.',
    ],
    [
      Array.from({ length: 51 }, (_, index) => `S${index}`),
      {},
      'Expected `secrets` to name at most 50 variables, got 51. Name fewer.',
    ],
  ])('refuses %j', (names, env, problem) => {
    expect(problemsOf(names, env as Record<string, string>)).toEqual([problem]);
  });
});

describe('hideFailures', () => {
  const hide = hiding(OTHER);

  async function thrownBy(error: unknown): Promise<unknown> {
    const failing = { callModel: () => Promise.reject(error) } as unknown as EverloopActivities;
    const hiding = hideFailures(failing, hide);
    return hiding.callModel({} as ModelOrder).catch((thrown: unknown) => thrown);
  }

  it('hides in message, stack, details and causes, and keeps what a failure means', async () => {
    const cause = new Error(`because ${OTHER}`, { cause: new Error(`deep ${OTHER}`) });
    const failure = ApplicationFailure.create({
      type: 'model_error',
      message: `it said ${OTHER}`,
      nonRetryable: true,
      details: [{ body: [OTHER], status: 500 }],
      cause,
    });

    const thrown = (await thrownBy(failure)) as ApplicationFailure;

    expect(thrown).toBe(failure);
    expect(thrown).toMatchObject({
      type: 'model_error',
      nonRetryable: true,
      message: 'it said [redacted]',
      details: [{ body: ['[redacted]'], status: 500 }],
      cause: { message: 'because [redacted]', cause: { message: 'deep [redacted]' } },
    });
    expect(`${thrown.stack}${cause.stack}${(cause.cause as Error).stack}`).not.toContain(OTHER);
  });

  it('hides in what is no ordinary error', async () => {
    const circular = new Error(OTHER);
    circular.cause = circular;

    expect(await thrownBy(OTHER)).toBe('[redacted]');
    expect(await thrownBy(undefined)).toBeUndefined();
    expect(await thrownBy(Object.freeze(new Error(OTHER)))).toMatchObject({
      message: '[redacted]',
    });
    expect(await thrownBy(circular)).toMatchObject({ message: '[redacted]' });
  });

  it('leaves activities as they are when nothing is to hide', () => {
    const activities = {} as EverloopActivities;
    expect(hideFailures(activities, HIDE_NOTHING)).toBe(activities);
  });
});
