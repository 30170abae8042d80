/** Values of about 1 MB, each the worst for one keyword; played in a thread by hostile-values.test.ts. */
import { parentPort } from 'node:worker_threads';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { fitValue } from '../../src/tools/fit-value.ts';
import { extentOf } from '../support/extent.ts';

const MEGABYTE = 1_000_000;

function list(length: number, item: (index: number) => Json): Json {
  return Array.from({ length }, (_, index) => item(index));
}

function record(size: number, value: (index: number) => Json): JsonObject {
  return Object.fromEntries(
    Array.from({ length: size }, (_, index) => [`k${index}`, value(index)]),
  );
}

function nested(levels: number, wrap: (inner: Json) => Json): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

/** An object all the way down; the value ends in a number. */
const branch = (title: string): JsonObject => ({
  title,
  type: 'object',
  properties: { a: { $ref: '#/$defs/t' } },
});

/** Name, schema, value, and whether it fits; `work`: it is refused for its work. */
export type HostileCase = readonly [
  name: string,
  schema: JsonObject,
  value: Json,
  fit: 'fits' | 'unfit' | 'work',
];

/** Formats of ajv-formats. */
const FORMATS = [
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'uuid',
  'json-pointer',
  'json-pointer-uri-fragment',
  'relative-json-pointer',
  'byte',
  'regex',
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
  'duration',
];

/** Long enough for what is quadratic; there are hundreds of cases. */
const LONG = 150_000;

/** Texts that formats read far into, and that do not end as they should. */
const TEXTS = [
  `a@${'a-'.repeat(LONG / 2)}`,
  `${'a.'.repeat(LONG / 2)}@`,
  `a@${'a.'.repeat(LONG / 2)}`,
  `http://a${'/a'.repeat(LONG / 2)} `,
  `https://${'a-'.repeat(LONG / 2)}!`,
  `2026-03-10T09:05:06.${'1'.repeat(LONG)}x`,
  `P${'1'.repeat(LONG)}`,
  `${'/~0'.repeat(LONG / 3)}~`,
  `${'{a}'.repeat(LONG / 3)}{`,
  `${'AAAA'.repeat(LONG / 4)}!`,
  `${'AAAA\n'.repeat(LONG / 5)}!`,
  '('.repeat(LONG),
  `${'1:'.repeat(LONG / 2)}`,
];

export const HOSTILE_CASES: readonly HostileCase[] = [
  ['pattern', { pattern: '^([a-z]+-?)+$' }, `${'a'.repeat(MEGABYTE)}!`, 'work'],
  [
    'short patterns',
    { items: { pattern: '^(a+)+$' } },
    list(20_000, () => `${'a'.repeat(45)}!`),
    'unfit',
  ],
  [
    'patternProperties',
    { patternProperties: { '^(k+\\d?)+$': {} } },
    record(60_000, () => 1),
    'fits',
  ],
  ['propertyNames', { propertyNames: { pattern: '^k\\d+$' } }, record(60_000, () => 1), 'fits'],
  ['uniqueItems of objects', { uniqueItems: true }, list(60_000, (a) => ({ a })), 'fits'],
  ['uniqueItems of lists', { uniqueItems: true }, list(100_000, (a) => [a]), 'fits'],
  ['uniqueItems, equal', { uniqueItems: true }, list(60_000, (a) => ({ a: a % 59_999 })), 'unfit'],
  [
    'enum',
    { items: { enum: list(10_000, (it) => ({ it })) } },
    list(60_000, () => ({ it: 9_999 })),
    'fits',
  ],
  [
    'const',
    { items: { const: list(1_000, (it) => it) } },
    list(200, () => list(1_000, (it) => it)),
    'fits',
  ],
  ['multipleOf', { items: { multipleOf: 1e-300 } }, list(150_000, (it) => it), 'fits'],
  ['additionalProperties', { additionalProperties: false }, record(60_000, () => 1), 'unfit'],
  ['very many errors', { items: { type: 'string' } }, list(500_000, () => 1), 'unfit'],
  [
    'very many errors in shapes',
    { items: { oneOf: list(50, (minLength) => ({ type: 'string', minLength })) } },
    list(500_000, () => 1),
    'unfit',
  ],
  ['contains', { contains: { const: 2 }, minContains: 3 }, list(500_000, () => 1), 'unfit'],
  [
    'required',
    { items: { required: list(1_000, (it) => `r${it as unknown as number}`) } },
    list(300_000, () => ({})),
    'unfit',
  ],
  [
    'properties',
    { items: { properties: record(1_000, () => true) } },
    list(300_000, () => ({})),
    'work',
  ],
  [
    'minLength',
    { anyOf: list(1_000, (it) => ({ minLength: 2e6 + Number(it) })) },
    'é'.repeat(500_000),
    'work',
  ],
  [
    'maxProperties',
    { items: { anyOf: list(100, (maxProperties) => ({ maxProperties })) } },
    [record(60_000, () => 1)],
    'work',
  ],
  ['unevaluatedProperties', { unevaluatedProperties: false }, record(60_000, () => 1), 'unfit'],
  [
    'a union that refers to itself',
    { $ref: '#/$defs/t', $defs: { t: { anyOf: [branch('b'), branch('c'), branch('d')] } } },
    nested(150, (a) => ({ a })),
    'work',
  ],
  ['a reference to itself', { anyOf: [{ $ref: '#' }] }, 1, 'work'],
  [
    'deep nesting',
    { $ref: '#/$defs/t', $defs: { t: { items: { $ref: '#/$defs/t' } } } },
    nested(100_000, (it) => [it]),
    'work',
  ],
];

/** Each format on each text, or on other ones than its neighbours. None fits, or its work ends. */
const FORMAT_CASES = extentOf(
  FORMATS.flatMap((format) =>
    TEXTS.map((text, index) => [`${format} ${index}`, { format }, text] as const),
  ),
);

/** All cases, in order. */
export const HOSTILE_NAMES: readonly string[] = [...HOSTILE_CASES, ...FORMAT_CASES].map(
  ([name]) => name,
);

async function play(): Promise<void> {
  for (const [name, schema, value] of [...HOSTILE_CASES, ...FORMAT_CASES]) {
    const fit = await fitValue({ json: schema, standard: null }, value);
    const isWork = fit.kind === 'unfit' && fit.lines[0]?.includes('takes too much work') === true;
    parentPort?.postMessage({ name, fit: isWork ? 'work' : fit.kind });
  }
}

if (parentPort !== null && process.argv.includes('--play-hostile-values')) await play();
