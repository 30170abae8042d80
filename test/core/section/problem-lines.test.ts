import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import {
  pathOfPointer,
  pathText,
  problemLines,
  type Violation,
} from '../../../src/core/section/problem-lines.ts';

function violation(
  keyword: string,
  params: { readonly [name: string]: Json },
  value?: Json,
  path: Violation['path'] = ['a'],
): Violation {
  return { path, keyword, params, value };
}

describe('Lines of a schema check [row 16]', () => {
  test.each<{ title: string; violation: Violation; line: string }>([
    {
      title: 'required',
      violation: violation('required', { missingProperty: 'b' }, {}),
      line: 'a.b: missing',
    },
    {
      title: 'type',
      violation: violation('type', { type: 'number' }, 'high'),
      line: 'a: expected number, got string "high"',
    },
    {
      title: 'several types',
      violation: violation('type', { type: ['string', 'null'] }, 5),
      line: 'a: expected string or null, got number 5',
    },
    {
      title: 'null',
      violation: violation('type', { type: 'string' }, null),
      line: 'a: expected string, got null',
    },
    {
      title: 'a value of more than 80 characters',
      violation: violation('type', { type: 'string' }, ['x'.repeat(100)]),
      line: `a: expected string, got array ["${'x'.repeat(72)}`,
    },
    {
      title: 'enum',
      violation: violation('enum', { allowedValues: ['x', 1, null] }, true),
      line: 'a: expected one of "x", 1, null, got boolean true',
    },
    {
      title: 'an enum of 25 values',
      violation: violation('enum', { allowedValues: Array.from({ length: 25 }, (_, i) => i) }, 'x'),
      line: `a: expected one of ${Array.from({ length: 20 }, (_, i) => i).join(', ')}, got string "x"`,
    },
    {
      title: 'const',
      violation: violation('const', { allowedValue: 'x' }, {}),
      line: 'a: expected "x", got object {}',
    },
    {
      title: 'minimum',
      violation: violation('minimum', { comparison: '>=', limit: 1 }, 0),
      line: 'a: expected a number >= 1, got number 0',
    },
    {
      title: 'maximum',
      violation: violation('maximum', { comparison: '<=', limit: 1 }, 2),
      line: 'a: expected a number <= 1, got number 2',
    },
    {
      title: 'exclusiveMinimum',
      violation: violation('exclusiveMinimum', { comparison: '>', limit: 0 }, 0),
      line: 'a: expected a number > 0, got number 0',
    },
    {
      title: 'exclusiveMaximum',
      violation: violation('exclusiveMaximum', { comparison: '<', limit: 9.5 }, 9.5),
      line: 'a: expected a number < 9.5, got number 9.5',
    },
    {
      title: 'multipleOf',
      violation: violation('multipleOf', { multipleOf: 5 }, 7),
      line: 'a: expected a multiple of 5, got number 7',
    },
    {
      title: 'minLength, in code points',
      violation: violation('minLength', { limit: 3 }, 'a😀'),
      line: 'a: expected at least 3 characters, got 2',
    },
    {
      title: 'maxLength',
      violation: violation('maxLength', { limit: 1 }, 'ab'),
      line: 'a: expected at most 1 characters, got 2',
    },
    {
      title: 'minItems',
      violation: violation('minItems', { limit: 1 }, []),
      line: 'a: expected at least 1 items, got 0',
    },
    {
      title: 'maxItems',
      violation: violation('maxItems', { limit: 1 }, [1, 2]),
      line: 'a: expected at most 1 items, got 2',
    },
    {
      title: 'minProperties',
      violation: violation('minProperties', { limit: 1 }, {}),
      line: 'a: expected at least 1 properties, got 0',
    },
    {
      title: 'maxProperties',
      violation: violation('maxProperties', { limit: 1 }, { x: 1, y: 2 }),
      line: 'a: expected at most 1 properties, got 2',
    },
    {
      title: 'pattern',
      violation: violation('pattern', { pattern: '^a+$' }, 'b'),
      line: 'a: expected text matching ^a+$, got string "b"',
    },
    {
      title: 'format',
      violation: violation('format', { format: 'date' }, 'soon'),
      line: 'a: expected a date, got string "soon"',
    },
    {
      title: 'an unknown property',
      violation: violation('additionalProperties', {
        additionalProperty: 'zzz',
        properties: ['name'],
      }),
      line: 'a.zzz: unknown property',
    },
    {
      title: 'a misspelt property',
      violation: violation('additionalProperties', {
        additionalProperty: 'nmae',
        properties: ['id', 'name'],
      }),
      line: 'a.nmae: unknown property, did you mean name?',
    },
    {
      title: 'uniqueItems',
      violation: violation('uniqueItems', { i: 4, j: 1 }, []),
      line: 'a: items 1, 4 are equal',
    },
    {
      title: 'anyOf',
      violation: violation('anyOf', { shapes: 3 }, 1),
      line: 'a: fits none of the 3 allowed shapes',
    },
    {
      title: 'oneOf, none',
      violation: violation('oneOf', { shapes: 2, passing: 0 }, 1),
      line: 'a: fits none of the 2 allowed shapes',
    },
    {
      title: 'oneOf, several',
      violation: violation('oneOf', { shapes: 3, passing: 2 }, 1),
      line: 'a: fits 2 shapes, expected exactly one',
    },
    {
      title: 'an issue of a Standard Schema object',
      violation: violation('standard', { message: 'Too long ago' }, 1),
      line: 'a: Too long ago',
    },
    {
      title: 'anything else',
      violation: violation('dependentRequired', {}, {}),
      line: 'a: does not fit (dependentRequired)',
    },
    {
      title: 'a keyword with a name of the prototype',
      violation: violation('constructor', {}, {}),
      line: 'a: does not fit (constructor)',
    },
    {
      title: 'the root',
      violation: violation('type', { type: 'object' }, [], []),
      line: '(value): expected object, got array []',
    },
  ])('$title', ({ violation: only, line }) => {
    expect(problemLines([only])).toEqual([line]);
  });

  test('stand in the order of their paths', () => {
    const paths: readonly Violation['path'][] = [
      ['b'],
      ['a', 10],
      ['a', 9, 'x'],
      ['a'],
      [],
      ['a', 'z'],
    ];

    expect(problemLines(paths.map((path) => violation('not', {}, null, path)))).toEqual([
      '(value): does not fit (not)',
      'a: does not fit (not)',
      'a[9].x: does not fit (not)',
      'a[10]: does not fit (not)',
      'a.z: does not fit (not)',
      'b: does not fit (not)',
    ]);
  });

  test('are at most 20, the rest is counted', () => {
    const all = Array.from({ length: 25 }, (_, i) => violation('not', {}, null, [i]));

    const lines = problemLines(all);

    expect(lines).toEqual([
      ...Array.from({ length: 20 }, (_, i) => `[${i}]: does not fit (not)`),
      'and 5 more',
    ]);
  });

  test('leave out errors inside the shapes of a union', () => {
    const at = (schemaPath: string, keyword: string, path: Violation['path']): Violation => ({
      ...violation(keyword, { type: 'string', shapes: 2 }, 1, path),
      schemaPath,
    });

    const lines = problemLines([
      at('#/properties/a/anyOf/0/type', 'type', ['a']),
      at('#/$defs/shape/properties/b/type', 'type', ['a', 'b']),
      at('#/properties/a/anyOf', 'anyOf', ['a']),
      at('#/properties/b/type', 'type', ['b']),
      at('#/$defs/other/type', 'type', ['a', 'c']),
    ]);

    expect(lines).toEqual([
      'a: fits none of the 2 allowed shapes',
      'a.c: expected string, got number 1',
      'b: expected string, got number 1',
    ]);
  });
});

describe('Paths [row 16]', () => {
  test.each([
    { path: [], text: '(value)' },
    { path: ['a', 'b', 0], text: 'a.b[0]' },
    { path: [0, 'x'], text: '[0].x' },
    { path: ['x y', 'ü', '0'], text: '["x y"].ü["0"]' },
  ])('$text', ({ path, text }) => {
    expect(pathText(path)).toBe(text);
  });

  test('tell indexes from names by the value', () => {
    const root = { a: [{ '0': { 'x/y~z': 1 } }] };

    expect(pathOfPointer('', root)).toEqual([]);
    expect(pathOfPointer('/a/0/0/x~1y~0z', root)).toEqual(['a', 0, '0', 'x/y~z']);
  });
});
