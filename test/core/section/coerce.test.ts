import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import { cpuClock } from '../../support/cpu-time.ts';
import { coerce, durationMs, isIsoDuration, toDateTime } from '../../../src/core/section/coerce.ts';

const dateTime = { type: 'string', format: 'date-time' };
const duration = { type: 'string', format: 'duration' };
const durationInMs = { type: 'integer', format: 'duration' };

describe('Coercion [row 15]', () => {
  test.each<{ title: string; schema: Json; from: Json; to: Json }>([
    { title: 'an integer as text', schema: { type: 'integer' }, from: '5', to: 5 },
    { title: 'a fraction is no integer', schema: { type: 'integer' }, from: '1.5', to: '1.5' },
    { title: 'a boolean as text', schema: { type: 'boolean' }, from: 'True', to: true },
    { title: 'words are no number', schema: { type: 'number' }, from: 'ten', to: 'ten' },
    {
      title: 'text where text is allowed',
      schema: { type: ['number', 'string'] },
      from: '5',
      to: '5',
    },
    { title: 'text where all is allowed', schema: {}, from: '5', to: '5' },
    { title: 'a value of an enum as text', schema: { enum: [60, 1440] }, from: '60', to: 60 },
    {
      title: 'a list as text, and its items',
      schema: { type: 'array', items: { type: 'integer' } },
      from: '["1", 2]',
      to: [1, 2],
    },
    {
      title: 'an object that was encoded twice',
      schema: { type: 'object', properties: { n: { type: 'number' } } },
      from: JSON.stringify(JSON.stringify({ n: '1' })),
      to: { n: 1 },
    },
    {
      title: 'null for optional properties',
      schema: {
        type: 'object',
        properties: {
          needed: { type: 'string' },
          optional: { type: 'string' },
          nullable: { type: ['string', 'null'] },
          any: {},
        },
        required: ['needed'],
      },
      from: { needed: null, optional: null, nullable: null, any: null, unknown: null },
      to: { needed: null, nullable: null, any: null, unknown: null },
    },
    {
      title: 'null for a property that only one shape of a union needs',
      schema: {
        oneOf: [
          {
            type: 'object',
            properties: { kind: { const: 'a' }, x: { type: 'number' } },
            required: ['kind', 'x'],
          },
          {
            type: 'object',
            properties: { kind: { const: 'b' }, x: { type: 'number' } },
            required: ['kind'],
          },
        ],
      },
      from: { kind: 'b', x: null },
      to: { kind: 'b' },
    },
    {
      title: 'null in a map is a value',
      schema: { type: 'object', additionalProperties: { type: 'number' } },
      from: { a: null },
      to: { a: null },
    },
    { title: 'a number is not text', schema: { type: 'string' }, from: 5, to: 5 },
    {
      title: 'RFC 3339',
      schema: dateTime,
      from: '2026-03-10T09:00:00.5+01:00',
      to: '2026-03-10T09:00:00.5+01:00',
    },
    {
      title: 'no zone: UTC',
      schema: dateTime,
      from: '2026-03-10T09:00:00',
      to: '2026-03-10T09:00:00Z',
    },
    {
      title: 'a blank and no seconds',
      schema: dateTime,
      from: '2026-03-10 09:05',
      to: '2026-03-10T09:05:00Z',
    },
    {
      title: 'a small zone',
      schema: dateTime,
      from: '2026-03-10 09:05z',
      to: '2026-03-10T09:05:00Z',
    },
    {
      title: 'an offset of its own',
      schema: dateTime,
      from: '2026-03-10 09:05-08:00',
      to: '2026-03-10T09:05:00-08:00',
    },
    { title: 'a date alone', schema: dateTime, from: '2026-03-10', to: '2026-03-10' },
    { title: 'no such day', schema: dateTime, from: '2026-02-30 09:00', to: '2026-02-30 09:00' },
    { title: 'no such hour', schema: dateTime, from: '2026-03-10 24:00', to: '2026-03-10 24:00' },
    { title: 'words', schema: dateTime, from: 'tomorrow', to: 'tomorrow' },
    { title: 'a number is no moment', schema: dateTime, from: 5, to: 5 },
    {
      title: 'a date stays',
      schema: { type: 'string', format: 'date' },
      from: '2026-3-1',
      to: '2026-3-1',
    },
    { title: 'hours and minutes', schema: duration, from: '1h30m', to: 'PT1H30M' },
    { title: 'seconds', schema: duration, from: '90s', to: 'PT1M30S' },
    { title: 'milliseconds', schema: duration, from: '500ms', to: 'PT0.5S' },
    { title: 'a fraction', schema: duration, from: '1.5h', to: 'PT1H30M' },
    { title: 'days', schema: duration, from: '2d', to: 'P2D' },
    { title: 'a leading minus', schema: duration, from: '-5m', to: '-PT5M' },
    { title: 'ISO 8601', schema: duration, from: 'PT90M', to: 'PT1H30M' },
    { title: 'ISO 8601 with days', schema: duration, from: 'P1DT2H', to: 'P1DT2H' },
    { title: 'ISO 8601 in weeks', schema: duration, from: 'P1W', to: 'P7D' },
    { title: 'integer ms', schema: duration, from: 5_400_000, to: 'PT1H30M' },
    { title: 'zero', schema: duration, from: '0s', to: 'PT0S' },
    { title: 'a fraction of a ms', schema: duration, from: 1.5, to: 1.5 },
    { title: 'units in a wrong order', schema: duration, from: '30m1h', to: '30m1h' },
    { title: 'a number without a unit', schema: duration, from: '5', to: '5' },
    { title: 'months, which have no length', schema: duration, from: 'P1M', to: 'P1M' },
    { title: 'nothing', schema: duration, from: '', to: '' },
    { title: 'a duration in ms', schema: durationInMs, from: '1h30m', to: 5_400_000 },
    { title: 'a duration in ms, ISO 8601', schema: durationInMs, from: '-PT2S', to: -2000 },
    { title: 'a duration in ms as written', schema: durationInMs, from: 12, to: 12 },
    { title: 'no duration in ms', schema: durationInMs, from: 'soon', to: 'soon' },
    {
      title: 'null where null is allowed',
      schema: { ...dateTime, type: ['string', 'null'] },
      from: null,
      to: null,
    },
    {
      title: 'nested, in lists, and where unions agree',
      schema: {
        type: 'object',
        properties: {
          at: { anyOf: [dateTime, { type: 'null' }] },
          either: { anyOf: [dateTime, { type: 'string' }] },
          waits: { type: 'array', items: { $ref: '#/$defs/wait' } },
        },
        additionalProperties: durationInMs,
        $defs: { wait: duration },
      },
      from: { at: '2026-03-10 09:00', either: '2026-03-10 09:00', waits: ['1m', 'x'], more: '1s' },
      to: {
        at: '2026-03-10T09:00:00Z',
        either: '2026-03-10 09:00',
        waits: ['PT1M', 'x'],
        more: 1000,
      },
    },
  ])('$title', ({ schema, from, to }) => {
    expect(coerce(from, schema)).toEqual(to);
  });

  test('what it makes of durations is a duration', () => {
    const texts = ['PT1H30M', 'PT0.5S', '-PT5M', 'P2D', 'PT0S', 'P1Y2M', 'P3W'];

    expect(texts.map(isIsoDuration)).toEqual(texts.map(() => true));
    expect(['P', 'PT', '1h', '', 'PT1.5H'].map(isIsoDuration)).toEqual(Array(5).fill(false));
  });

  test('keeps keys as they are, `__proto__` included', () => {
    const from = JSON.parse('{"__proto__": "1h", "b": "1h"}') as Json;

    expect(Object.entries(coerce(from, { additionalProperties: duration }) as object)).toEqual([
      ['__proto__', 'PT1H'],
      ['b', 'PT1H'],
    ]);
  });

  test('knows the parts of a moment and a duration', () => {
    expect(toDateTime('2024-02-29 00:00')).toBe('2024-02-29T00:00:00Z');
    expect(toDateTime('2023-02-29 00:00')).toBeUndefined();
    expect(durationMs('1d2h3m4s5ms')).toBe(93_784_005);
    expect(durationMs('99999999999999999d')).toBeUndefined();
  });
});

test('a schema that refers to itself in many ways is read in its own length', () => {
  const many = { anyOf: Array.from({ length: 40 }, () => ({ $ref: '#' })) };
  const $defs: { [name: string]: Json } = {
    t0: { type: 'object', properties: { a: { type: 'string' } } },
  };
  for (let level = 1; level < 30; level++) {
    const $ref = `#/$defs/t${level - 1}`;
    $defs[`t${level}`] = { anyOf: [{ $ref }, { $ref }], allOf: [{ $ref }, { $ref }] };
  }
  const began = cpuClock();

  expect(coerce({ a: null }, many)).toEqual({ a: null });
  expect(coerce({ a: null }, { $ref: '#/$defs/t29', $defs })).toEqual({});
  expect(began()).toBeLessThan(1_000);
});
