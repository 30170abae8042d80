import { expect, test } from 'vitest';
import { failureTypes, isFailureType } from '../../../src/core/base/failure-types.ts';

test('every failure type is a name of lower case words with a meaning of one line', () => {
  for (const [type, meaning] of Object.entries(failureTypes)) {
    expect(type).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(meaning).toMatch(/^[A-Z][^\n]{10,100}\.$/);
  }
});

test('knows its own names and nothing that every object has', () => {
  expect(isFailureType('model_auth')).toBe(true);
  expect(isFailureType('toString')).toBe(false);
  expect(isFailureType(undefined)).toBe(false);
});
