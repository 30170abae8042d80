import { describe, expect, test } from 'vitest';
import { alignValue } from '../../../src/core/signature/align-value.ts';
import { coerceInputs } from '../../../src/core/signature/coerce-inputs.ts';
import { parseSignature } from '../../../src/core/signature/parse-signature.ts';
import type { Json } from '../../../src/core/base/json.ts';
import type { Signature } from '../../../src/core/contract/signature.ts';

function signature(text: string): Signature {
  const reading = parseSignature(text);
  if (reading.kind === 'problem') throw new Error(text);
  return reading.signature;
}

function coerced(type: string, value: Json): ReturnType<typeof coerceInputs> {
  return coerceInputs(signature(`(x ${type}) -> :any`).params, { x: value });
}

describe('Inputs [sub 14]', () => {
  test.each<{ type: string; from: Json; to: Json; warning?: string }>([
    { type: ':int', from: '42', to: 42, warning: 'x: "42" was read as 42' },
    { type: ':float', from: '3.14', to: 3.14, warning: 'x: "3.14" was read as 3.14' },
    { type: ':bool', from: 'true', to: true, warning: 'x: "true" was read as true' },
    { type: ':bool', from: 'false', to: false, warning: 'x: "false" was read as false' },
    { type: ':float', from: 3, to: 3 },
    { type: ':keyword', from: ':open', to: 'open' },
    { type: ':keyword', from: 'open', to: 'open' },
    { type: ':datetime', from: '2026-05-03T09:14:00Z', to: '2026-05-03T09:14:00Z' },
    {
      type: ':datetime',
      from: '2026-05-03T09:14:00+02:00',
      to: '2026-05-03T07:14:00Z',
      warning: 'x: "2026-05-03T09:14:00+02:00" was read as "2026-05-03T07:14:00Z"',
    },
    { type: '[:int]', from: ['1', 2], to: [1, 2], warning: 'x[0]: "1" was read as 1' },
    { type: '{a_b :int}', from: { 'a-b': 1, c: 2 }, to: { a_b: 1, c: 2 } },
    { type: ':int?', from: null, to: null },
    { type: ':any', from: '42', to: '42' },
  ])('$from becomes $to as $type', ({ type, from, to, warning }) => {
    expect(coerced(type, from)).toEqual({
      inputs: { x: to },
      warnings: warning === undefined ? [] : [warning],
      problems: [],
    });
  });

  test.each<{ type: string; value: Json; problem: string }>([
    { type: ':int', value: 'x', problem: 'x: cannot coerce string "x" to integer' },
    { type: ':int', value: 42.5, problem: 'x: cannot coerce number 42.5 to integer' },
    { type: ':int', value: '42.0', problem: 'x: cannot coerce string "42.0" to integer' },
    { type: ':int', value: true, problem: 'x: cannot coerce boolean true to integer' },
    { type: ':int', value: null, problem: 'x: cannot coerce null to integer' },
    {
      type: ':int',
      value: '9007199254740993',
      problem: 'x: cannot coerce string "9007199254740993" to integer',
    },
    { type: ':float', value: '', problem: 'x: cannot coerce string "" to float' },
    { type: ':bool', value: 'yes', problem: 'x: cannot coerce string "yes" to boolean' },
    { type: ':string', value: 5, problem: 'x: cannot coerce number 5 to string' },
    {
      type: ':datetime',
      value: '2026-05-03T09:14:00',
      problem: 'x: datetime needs an offset, got "2026-05-03T09:14:00"',
    },
    { type: ':datetime', value: 'soon', problem: 'x: cannot coerce string "soon" to datetime' },
    {
      type: '{a [:int]}',
      value: { a: ['b'] },
      problem: 'x.a[0]: cannot coerce string "b" to integer',
    },
    { type: ':map', value: [], problem: 'x: cannot coerce array [] to map' },
  ])('$value is no $type', ({ type, value, problem }) => {
    expect(coerced(type, value).problems).toEqual([problem]);
  });

  test('what is missing is named with its type, unknown inputs are kept', () => {
    const { params } = signature('(user :string, limit :int, page :int?) -> :any');

    expect(coerceInputs(params, { user: 'u', more: 1 })).toEqual({
      inputs: { user: 'u', more: 1 },
      warnings: [],
      problems: ['`limit` is required (int).'],
    });
  });
});

describe('The spelling of a value [sub 14]', () => {
  test.each<{ type: string; value: Json; aligned: Json }>([
    { type: '{user_id :int}', value: { 'user-id': 1 }, aligned: { user_id: 1 } },
    { type: '{user-id :int}', value: { user_id: 1 }, aligned: { 'user-id': 1 } },
    { type: '{a :int}', value: { ':a': 1 }, aligned: { a: 1 } },
    // The exact name wins, and nothing is lost.
    { type: '{a_b :int}', value: { 'a-b': 1, a_b: 2 }, aligned: { 'a-b': 1, a_b: 2 } },
    { type: '[{a_b :int}]', value: [{ 'a-b': 1 }, 3], aligned: [{ a_b: 1 }, 3] },
    { type: ':datetime', value: '2026-05-03T09:14:00-01:00', aligned: '2026-05-03T10:14:00Z' },
    { type: ':datetime', value: '2026-05-03', aligned: '2026-05-03' },
    { type: '{a :int?}', value: { a: null }, aligned: { a: null } },
  ])('$value as $type', ({ type, value, aligned }) => {
    expect(alignValue(signature(type).output, value)).toEqual(aligned);
  });
});
