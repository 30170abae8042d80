import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { UsageError, usageErrorOf } from '../../../src/core/base/usage-error.ts';

describe('what Node prints of a UsageError that ends a program', () => {
  test('has its message once', () => {
    const error = usageErrorOf([{ code: 'run_failed', message: 'Expected this, got that.' }]);

    const text = inspect(error, { customInspect: false });

    expect(text).toMatch(/^UsageError: Expected this, got that\.\n {4}at /);
    expect(text.split('Expected this')).toHaveLength(2);
    expect(error.problems).toEqual([{ code: 'run_failed', message: 'Expected this, got that.' }]);
  });

  test('has the error that caused it', () => {
    const error = new UsageError('argument', 'Expected this.');
    error.cause = new TypeError('fetch failed');

    expect(inspect(error)).toMatch(/Expected this\.\n[^]*cause[^]*TypeError: fetch failed\n/);
  });
});
