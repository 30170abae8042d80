import { describe, expect, test } from 'vitest';
import { checkJson, MAX_COMPILED_SCHEMAS, schemaProblem } from '../../src/define/schema/schema.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

describe('schemas', () => {
  test('with the same `$id` do not get into each other’s way', () => {
    const text = { $id: 'https://a.test/x', type: 'string' };
    const number = { $id: 'https://a.test/x', type: 'number' };

    expect(checkJson(text, 'x').errors).toEqual([]);
    expect(checkJson(number, 'x').errors).toHaveLength(1);
  });

  test('with keywords that nobody knows are accepted', () => {
    expect(schemaProblem({ type: 'string', example: 'x', 'x-ui': { wide: true } })).toBeUndefined();
  });

  test('that do not compile are told with the reason', () => {
    expect(schemaProblem({ type: 'text' })).toBe(
      'schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf',
    );
  });

  test('that do not compile cannot check', () => {
    expect(() => checkJson({ minimum: 'one' }, 5)).toThrow(
      'Expected a schema that compiles, got one that does not: schema is invalid: data/minimum must be number.',
    );
  });

  test('are compiled once, also when they are equal but not the same', () => {
    const schema = (): JsonObject => ({
      type: 'object',
      properties: { [`p${1}`]: { minimum: 3 } },
    });
    checkJson(schema(), {});

    const ms = cpuMsOf(() => {
      for (let index = 0; index < 500; index++) checkJson(schema(), { p1: 5 });
    });

    // Compiling takes about 10 ms, so 500 times would take 5 s.
    expect(ms).toBeLessThan(2_500);
  });

  test('stay bounded in number', () => {
    expect(MAX_COMPILED_SCHEMAS).toBe(1_000);
  });

  test('check values with a key `__proto__` without touching a prototype', () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;

    const checked = checkJson({ type: 'object' }, value);

    expect(Object.keys(checked.value as JsonObject)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
