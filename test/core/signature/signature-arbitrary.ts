/** Signatures and values of them, for property tests. */
import fc from 'fast-check';
import type { Json } from '../../../src/core/base/json.ts';
import {
  PRIMITIVES,
  type Signature,
  type SignatureField,
  type SignatureType,
} from '../../../src/core/contract/signature.ts';

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,6}$/);

function fieldsOf(type: fc.Arbitrary<SignatureType>): fc.Arbitrary<readonly SignatureField[]> {
  return fc.uniqueArray(fc.record({ name, type }), {
    maxLength: 4,
    // Two spellings of one name are one field.
    selector: (field) => field.name.replaceAll('-', '_'),
  });
}

const types = fc.letrec<{ type: SignatureType; plain: SignatureType }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...PRIMITIVES).map((kind): SignatureType => ({ kind })),
    tie('type').map((item): SignatureType => ({ kind: 'list', item })),
    fieldsOf(tie('type')).map((fields): SignatureType => ({ kind: 'record', fields })),
  ),
  type: fc.oneof(
    tie('plain'),
    tie('plain').map((inner): SignatureType => ({ kind: 'optional', inner })),
  ),
}));

/** Any type. */
export const anyType: fc.Arbitrary<SignatureType> = types.type;

/** Any signature. */
export const anySignature: fc.Arbitrary<Signature> = fc.record({
  params: fieldsOf(anyType),
  output: anyType,
});

/** Whether `value` is one of `type`, said once more and without a schema. */
export function isOfType(type: SignatureType, value: Json | undefined): boolean {
  switch (type.kind) {
    case 'optional':
      return value === null || value === undefined || isOfType(type.inner, value);
    case 'string':
      return typeof value === 'string';
    case 'keyword':
      return typeof value === 'string' && /^:?[a-z][a-z-]*$/.test(value);
    case 'datetime':
      return (
        typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/.test(value)
      );
    case 'int':
      return Number.isInteger(value);
    case 'float':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'any':
      return value !== undefined;
    case 'map':
      return isObject(value);
    case 'list':
      return Array.isArray(value) && value.every((item: Json) => isOfType(type.item, item));
    case 'record':
      return (
        isObject(value) &&
        type.fields.every((field) =>
          isOfType(field.type, Object.hasOwn(value, field.name) ? value[field.name] : undefined),
        )
      );
  }
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that fits `type`. */
export function valueOf(type: SignatureType): fc.Arbitrary<Json> {
  switch (type.kind) {
    case 'optional':
      return fc.oneof(fc.constant(null), valueOf(type.inner));
    case 'string':
      return fc.string();
    case 'keyword':
      return fc.stringMatching(/^:?[a-z][a-z-]{0,5}$/);
    case 'datetime':
      return fc.constantFrom('2026-05-03T09:14:00Z', '2026-05-03T09:14:00+02:00');
    case 'int':
      return fc.integer();
    case 'float':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'bool':
      return fc.boolean();
    case 'any':
      return fc.jsonValue() as fc.Arbitrary<Json>;
    case 'map':
      return fc.dictionary(fc.string({ maxLength: 4 }), fc.integer(), { noNullPrototype: true });
    case 'list':
      return fc.array(valueOf(type.item), { maxLength: 3 });
    case 'record':
      return fc.record(
        Object.fromEntries(type.fields.map((field) => [field.name, valueOf(field.type)])),
        {
          requiredKeys: type.fields
            .filter((field) => field.type.kind !== 'optional')
            .map((field) => field.name),
          noNullPrototype: true,
        },
      ) as fc.Arbitrary<Json>;
  }
}
