import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { CallQuestion } from '../../../src/core/contract/call-input.ts';
import { formProblem, readInputAnswer, responseOf } from '../../../src/core/toolchain/form.ts';

function form(properties: JsonObject, required: readonly string[] = []): CallQuestion {
  return { kind: 'form', message: 'Say', form: { type: 'object', properties, required } };
}

function read(request: CallQuestion, value: Json): unknown {
  const answer = readInputAnswer(request, value);
  return answer.kind === 'fits' ? answer.value : answer.message;
}

const ENV = { type: 'string', enum: ['staging', 'production'] };
const TITLED = { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] };
const MANY = { type: 'array', items: { anyOf: [{ const: 'x' }, { const: 'y' }] }, maxItems: 1 };

describe('the answer to a form [mcp 6]', () => {
  it.each<{ field: JsonObject; fits: readonly Json[]; unfit: readonly Json[]; wanted: string }>([
    { field: ENV, fits: ['staging'], unfit: ['moon', 1], wanted: 'is one of staging, production' },
    { field: TITLED, fits: ['b'], unfit: ['A'], wanted: 'is one of a, b' },
    {
      field: MANY,
      fits: [[], ['x']],
      unfit: [['z'], ['x', 'y'], 'x'],
      wanted: 'is a list of x, y',
    },
    {
      field: { type: 'array', items: { type: 'string', enum: ['x'] }, minItems: 1 },
      fits: [['x']],
      unfit: [[], [1]],
      wanted: 'is a list of x',
    },
    {
      field: { type: 'array', items: { type: 'string' }, minItems: 1 },
      fits: [['free']],
      unfit: [[], [1], {}],
      wanted: 'is a list of texts of at least 1 items',
    },
    {
      field: { type: 'string', minLength: 2, maxLength: 3 },
      fits: ['ab', '🙂🙂'],
      unfit: ['a', 'abcd', null],
      wanted: 'is a text of at least 2 and at most 3 characters',
    },
    {
      field: { type: 'string', format: 'email' },
      fits: ['a@b.example'],
      unfit: ['a', 'a@b c'],
      wanted: 'is a text of the format email',
    },
    {
      field: { type: 'string', format: 'uri' },
      fits: ['https://a.example/b?c'],
      unfit: ['a.example', 'http: //x'],
      wanted: 'is a text of the format uri',
    },
    {
      field: { type: 'string', format: 'date' },
      fits: ['2024-02-29', '2026-12-31'],
      unfit: ['2023-02-29', '2026-13-01', '2026-1-1', '2026-00-10'],
      wanted: 'is a text of the format date',
    },
    {
      field: { type: 'string', format: 'date-time' },
      fits: ['2026-11-23T15:00:00Z', '2026-11-23T15:00:00.5+01:00'],
      unfit: ['2026-11-23', '2026-11-23T24:00:00Z', '2026-02-30T10:00:00Z'],
      wanted: 'is a text of the format date-time',
    },
    {
      field: { type: 'number', minimum: 0.5 },
      fits: [0.5],
      unfit: [0, '1'],
      wanted: 'is a number of at least 0.5',
    },
    {
      field: { type: 'integer', maximum: 9 },
      fits: [-3],
      unfit: [1.5, 10],
      wanted: 'is a whole number of at most 9',
    },
    { field: { type: 'boolean' }, fits: [false], unfit: ['false', 0], wanted: 'is true or false' },
    {
      field: { type: 'colour' },
      fits: ['red', 7],
      unfit: [[], {}],
      wanted: 'is a text, a number or true or false',
    },
  ])('$wanted', ({ field, fits, unfit, wanted }) => {
    const request = form({ it: field }, ['it']);
    const unread = `answer with an object: it ${wanted}`;

    expect(fits.map((value) => read(request, { it: value }))).toEqual(fits.map((it) => ({ it })));
    expect(unfit.map((value) => read(request, { it: value }))).toEqual(unfit.map(() => unread));
    expect([read(request, {}), read(request, 'staging'), read(request, null)]).toEqual([
      unread,
      unread,
      unread,
    ]);
  });

  it.each<{
    form: JsonObject;
    fits: readonly (readonly [Json, Json])[];
    unfit: Json;
    says: string;
  }>([
    {
      form: { type: 'string', enum: ['giro', 'savings'] },
      fits: [
        ['giro', 'giro'],
        [' SAVINGS', 'savings'],
        ['2', 'savings'],
        [1, 'giro'],
      ],
      unfit: 3,
      says: 'answer one of: 1 giro, 2 savings',
    },
    {
      form: { type: 'boolean' },
      fits: [
        [false, false],
        ['true', true],
        ['2', false],
      ],
      unfit: 'maybe',
      says: 'answer one of: 1 true, 2 false',
    },
    {
      form: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      fits: [['3.5', 3.5]],
      unfit: 9,
      says: 'answer with a number of more than 0 and less than 9',
    },
    {
      form: { type: 'string', minLength: 1 },
      fits: [['12', '12']],
      unfit: '',
      says: 'answer with a text of at least 1 characters',
    },
    { form: MANY, fits: [['["x"]', ['x']]], unfit: 'x', says: 'answer with a list of x, y' },
    {
      form: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
      fits: [
        ['a', 'a'],
        ['null', null],
      ],
      unfit: 'b',
      says: 'answer with a text, a number or true or false',
    },
  ])('is one value: $says', ({ form: asked, fits, unfit, says }) => {
    const request: CallQuestion = { kind: 'form', message: 'Say', form: asked };

    expect(formProblem(asked)).toBeUndefined();
    expect(fits.map(([given]) => read(request, given))).toEqual(fits.map(([, value]) => value));
    expect(read(request, unfit)).toBe(says);
    expect(responseOf(request, read(request, { decline: true }) as Json)).toEqual({
      action: 'decline',
    });
  });

  it.each<{ form: JsonObject; problem: string }>([
    { form: { type: 'array', items: { type: 'object' } }, problem: 'a list of other values' },
    { form: { $ref: '#/$defs/a' }, problem: 'a schema without a type' },
    {
      form: { type: 'object', properties: { a: { type: 'object' } } },
      problem: 'an object in `a`',
    },
  ])('cannot be asked for as $problem', ({ form: asked, problem }) => {
    expect(formProblem(asked)).toBe(problem);
  });

  it('takes defaults for what is missing, and refuses what the form does not have', () => {
    const request = form({ env: { ...ENV, default: 'staging' }, note: { type: 'string' } });

    expect(read(request, {})).toEqual({ env: 'staging' });
    expect(read(request, { env: 'production' })).toEqual({ env: 'production' });
    expect(read(request, { environment: 'x' })).toBe(
      'answer with an object: environment is no field of the form',
    );
  });

  it('reads a text that holds the object, as people type it', () => {
    expect(read(form({ env: ENV }), '{ "env": "staging" }')).toEqual({ env: 'staging' });
  });

  it('is a refusal to answer, unless the form has such a field', () => {
    const asked = form({ env: ENV }, ['env']);
    const own = form({ decline: { type: 'boolean' } });

    expect(responseOf(asked, read(asked, { decline: true }) as Json)).toEqual({
      action: 'decline',
    });
    expect(responseOf(own, read(own, { decline: true }) as Json)).toEqual({
      action: 'accept',
      content: { decline: true },
    });
  });

  it('is that a page was opened', () => {
    const page: CallQuestion = { kind: 'url', message: 'Log in', url: 'https://a.example' };

    expect(responseOf(page, read(page, true) as Json)).toEqual({ action: 'accept' });
    expect(read(page, 'done')).toBe(true);
    expect(responseOf(page, read(page, '{"decline":true}') as Json)).toEqual({ action: 'decline' });
    expect(read(page, { a: 1 })).toBe(
      'answer with true once the page is done, or with { "decline": true }',
    );
  });

  it('never throws, and what fits is a flat object with all defaults (property)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        const properties = {
          __proto__: null,
          a: schema,
          toString: { type: 'string', default: 'd' },
        };
        const request = form(properties as unknown as JsonObject, ['a']);
        const answer = readInputAnswer(request, value as Json);
        if (answer.kind === 'refused') return answer.message.length <= 1_000;
        const { value: fit } = answer;
        if (responseOf(request, fit).action === 'decline') return true;
        return typeof fit === 'object' && fit !== null && Object.hasOwn(fit, 'toString');
      }),
    );
  });

  it('fits again after it has fitted (property)', () => {
    const field = fc.constantFrom<JsonObject>(
      ENV,
      TITLED,
      MANY,
      { type: 'integer', default: 3 },
      {
        type: 'boolean',
      },
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), field),
        fc.jsonValue(),
        (properties, value) => {
          const request = form(properties);
          const once = readInputAnswer(request, value as Json);
          if (once.kind === 'refused') return;
          expect(readInputAnswer(request, once.value)).toEqual(once);
        },
      ),
    );
  });
});
