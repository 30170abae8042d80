/** Patterns that libraries emit, and hostile ones, on the engine of schemas. */
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compilePattern, OutOfSteps } from '../../../src/define/pattern/pattern.ts';
import { PatternError } from '../../../src/define/pattern/pattern-tree.ts';

const MAX_STEPS = 2_000_000;

function verdict(pattern: string, text: string): boolean | 'steps' {
  try {
    return compilePattern(pattern)(text, { left: MAX_STEPS });
  } catch (error) {
    if (error instanceof OutOfSteps) return 'steps';
    throw error;
  }
}

/** Every `pattern` inside a JSON Schema. */
function patternsIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = (schema as { readonly pattern?: unknown }).pattern;
  const inner = Object.values(schema).flatMap(patternsIn);
  return typeof own === 'string' ? [own, ...inner] : inner;
}

const ZOD = {
  email: z.email(),
  html5Email: z.email({ pattern: z.regexes.html5Email }),
  unicodeEmail: z.email({ pattern: z.regexes.unicodeEmail }),
  uuid: z.uuid(),
  uuidv7: z.uuidv7(),
  guid: z.guid(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
  nanoid: z.nanoid(),
  jwt: z.jwt(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  mac: z.mac(),
  base64: z.base64(),
  base64url: z.base64url(),
  e164: z.e164(),
  hostname: z.hostname(),
  url: z.httpUrl(),
  emoji: z.emoji(),
  date: z.iso.date(),
  time: z.iso.time(),
  datetime: z.iso.datetime({ offset: true, local: true }),
  duration: z.iso.duration(),
  lowercase: z.string().lowercase(),
  startsWith: z.string().startsWith('a.b'),
  template: z.templateLiteral(['v', z.number(), '-', z.enum(['a', 'b'])]),
};

const VALIBOT = {
  email: v.email(),
  uuid: v.uuid(),
  emoji: v.emoji(),
  ipv6: v.ipv6(),
  mac: v.mac(),
  base64: v.base64(),
  isoTimestamp: v.isoTimestamp(),
  nanoid: v.nanoid(),
  ulid: v.ulid(),
  creditCard: v.regex(/^(?:\d{14,19}|\d{4}(?: \d{3,6}){2,4})$/u),
};

const ARKTYPE = {
  email: type('string.email'),
  uuid: type('string.uuid'),
  semver: type('string.semver'),
  ip: type('string.ip'),
  date: type('string.date.iso'),
  digits: type('string.digits'),
};

const patterns: readonly (readonly [name: string, pattern: string])[] = [
  ...Object.entries(ZOD).flatMap(([name, schema]) =>
    patternsIn(z.toJSONSchema(schema)).map((it) => [`zod ${name}`, it] as const),
  ),
  // zod has them for checks that it writes as a format alone.
  ...Object.entries(z.regexes).flatMap(([name, made]) => {
    const expression: unknown = made instanceof RegExp ? made : undefined;
    const isUnicode = expression instanceof RegExp && isPattern(expression.source);
    return isUnicode ? [[`zod expression ${name}`, expression.source] as const] : [];
  }),
  ...Object.entries(VALIBOT).flatMap(([name, action]) =>
    patternsIn(
      toJsonSchema(v.pipe(v.string(), action as ReturnType<typeof v.email<string>>), {
        errorMode: 'ignore',
      }),
    ).map((it) => [`valibot ${name}`, it] as const),
  ),
  ...Object.entries(ARKTYPE).flatMap(([name, schema]) =>
    patternsIn(schema.toJsonSchema({ fallback: ({ base }) => base })).map(
      (it) => [`arktype ${name}`, it] as const,
    ),
  ),
];

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Values of all these kinds, nearly values, and others. */
const TEXTS = [
  '',
  ' ',
  'a',
  'A',
  '0',
  '-',
  'a.b',
  'a.b!',
  'v1-a',
  'v1.5-c',
  'true',
  'null',
  '12',
  '-1.5e3',
  'ann@example.com',
  'ann..b@example.com',
  '.a@b.co',
  'a@b',
  "o'neil@b.example",
  'ä@ö.de',
  '123e4567-e89b-12d3-a456-426614174000',
  '123e4567-e89b-72d3-a456-42661417400',
  'urn:uuid:1',
  '00000000-0000-0000-0000-000000000000',
  'cjld2cjxh0000qzrmn831i7rn',
  'tz4a98xxat96iws9zmbrgj3a',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '9m4e2mr0ui3e8a215n4g',
  'V1StGXR8_Z5jdHi6B-myT',
  'aaa.bbb.ccc',
  '127.0.0.1',
  '256.1.1.1',
  '::1',
  'fe80::1%eth0',
  '2001:db8::8a2e:370:7334',
  '::ffff:1.2.3.4',
  '10.0.0.0/8',
  '10.0.0.0/33',
  '2001:db8::/32',
  '2001:db8::/129',
  '00:1a:2b:3c:4d:5e',
  '00-1A-2B',
  'aGVsbG8=',
  'aGVsbG8',
  'aGVs',
  '_-8',
  '+4915112345678',
  '+0',
  'example.com',
  '-a.com',
  'localhost',
  'https://example.com/a?b#c',
  'http://a',
  'ftp://x.y',
  '😀',
  '😀a',
  '👩‍👩‍👧',
  '1️⃣',
  '©',
  '2026-02-28',
  '2026-02-29',
  '2024-02-29',
  '2026-13-01',
  '23:59',
  '24:00',
  '09:05:06.789',
  '9:05',
  '2026-02-28T09:05:06Z',
  '2026-02-28T09:05:06+02:00',
  '2026-02-28T09:05',
  '2026-02-28 09:05Z',
  'P1Y2M3DT4H5M6S',
  'P1W',
  'P',
  'PT',
  'P1WT1H',
  'PT0.5S',
  '-P1D',
  'P1YT',
  'PT1.5,2S',
  'P3D\n',
  '1.2.3',
  '1.2.3-beta.1+5',
  '01.2.3',
  '4111 1111 1111 1111',
  '41111111111111',
  'a\nb',
  'a\u2028',
];

describe('patterns of libraries', () => {
  test('are many, and some look around', () => {
    expect(patterns.length).toBeGreaterThan(60);
    expect(patterns.some(([, pattern]) => pattern.includes('(?='))).toBe(true);
    expect(patterns.some(([, pattern]) => pattern.includes('\\p{'))).toBe(true);
  });

  test.each(patterns)('%s has the verdict of V8', (_name, pattern) => {
    const native = new RegExp(pattern, 'u');
    const got = TEXTS.map((text) => [text, verdict(pattern, text)]);

    expect(got).toEqual(TEXTS.map((text) => [text, native.test(text)]));
  });

  test.each(patterns)('%s ends on long texts', (_name, pattern) => {
    for (const piece of ['a', '1', 'a-', 'a.', 'a@', 'P1D', ':', '😀', 'Aa0', ' ']) {
      const text = `${piece.repeat(20_000)}!`;
      expect(['steps', true, false]).toContain(verdict(pattern, text));
    }
  });
});

/** Patterns on which backtracking is exponential or quadratic, and the verdict. */
const HOSTILE: readonly (readonly [pattern: string, text: string, verdict: boolean | 'steps'])[] = [
  ['^([a-z]+-?)+$', `${'a'.repeat(40)}!`, false],
  ['^([a-z]+-?)+$', 'a'.repeat(40), true],
  ['^(a+)+$', `${'a'.repeat(50_000)}!`, false],
  ['^(a|a)*$', `${'a'.repeat(50_000)}b`, false],
  ['^(a|aa)+$', `${'a'.repeat(50_000)}b`, false],
  ['(x+x+)+y', 'x'.repeat(50_000), false],
  ['^(\\w+\\s?)*$', `${'word '.repeat(10_000)}!`, false],
  ['^(?:a?){50}a{50}$', 'a'.repeat(50), true],
  ['^(([^()]+)|(\\([^()]*\\)))*$', `${'a()'.repeat(10_000)}(`, false],
  ['^.{1,10000}$', 'a'.repeat(10_001), false],
  ['^.{1,10000}$', 'é'.repeat(10_000), true],
  ['^[A-Za-z0-9+/]*={0,2}$', `${'A'.repeat(1_000_000)}==`, true],
  ['^(?:[A-Za-z0-9+/]{4})*$', 'A'.repeat(1_000_000), true],
  // With look-around, in counted steps.
  ['^(?=.*[A-Z])(?=.*\\d).{8,}$', `${'a'.repeat(50_000)}A1`, true],
  ['^(?!.*\\.\\.)(a+)+$', `${'a'.repeat(500)}!`, false],
  ['(?=.*x)y', 'a'.repeat(1_000_000), 'steps'],
  // With references there is no bound but the steps.
  ['^(a+)\\1$', 'a'.repeat(200), true],
  ['^(a+)+\\1$', `${'a'.repeat(60)}b`, 'steps'],
  ['^(a+)+\\1$', `${'a'.repeat(1_000_000)}b`, 'steps'],
];

describe('hostile patterns', () => {
  test.each(HOSTILE)('%s ends', (pattern, text, expected) => {
    expect(verdict(pattern, text)).toBe(expected);
  });

  test.each([
    ['^(?:(?:a{1,1000}){1,1000}){1,1000}$', 'a pattern with smaller repeat counts'],
    ['(?=x)(?:ab){1,1000000}', 'a pattern with smaller repeat counts'],
    [`${'(?:'.repeat(4_000)}a${')'.repeat(4_000)}`, 'a pattern with at most 100 groups inside'],
    ['x'.repeat(1_000_000), 'a pattern with at most 20000 characters, got one with 1000000'],
  ])('%.30s is refused', (pattern, message) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
    expect(() => compilePattern(pattern)).toThrow(message);
  });

  test('a repetition of nothing takes no memory', () => {
    expect(verdict('^(?=a)(?:(?:){0,1000000}){0,1000000}a$', 'a')).toBe(true);
  });
});
