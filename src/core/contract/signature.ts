/**
 * The types of a run's input and output, as plain data. They are short enough for one line, and
 * prompts, schemas and coercion are derived from them.
 */

/** The types that have no parts, in the order in which messages list them. */
export const PRIMITIVES = [
  'string',
  'int',
  'float',
  'bool',
  'keyword',
  'map',
  'any',
  'datetime',
] as const;

/** A type without parts. */
export type Primitive = (typeof PRIMITIVES)[number];

/** A type of a signature. */
export type SignatureType =
  | { readonly kind: Primitive }
  | { readonly kind: 'list'; readonly item: SignatureType }
  | RecordType
  /** The value may be null or absent. */
  | { readonly kind: 'optional'; readonly inner: SignatureType };

/** An object with known fields; other fields are kept, or refused if it is `closed`. */
export interface RecordType {
  readonly kind: 'record';
  readonly fields: readonly SignatureField[];
  readonly closed?: true;
}

/** A parameter, or a field of a record. */
export interface SignatureField {
  readonly name: string;
  readonly type: SignatureType;
  /** Its meaning, for prompts and schemas. */
  readonly description?: string;
}

/** A run's input and output. */
export interface Signature {
  readonly params: readonly SignatureField[];
  readonly output: SignatureType;
}

/** `type` without `optional`. */
export function withoutOptional(type: SignatureType): Exclude<SignatureType, { kind: 'optional' }> {
  return type.kind === 'optional' ? withoutOptional(type.inner) : type;
}

/** Whether a name is hidden: models see neither such a field or key nor its value. */
export function isHidden(name: string): boolean {
  return name.startsWith('_');
}

/** The hidden fields of a signature, each name once, in order of appearance. */
export function hiddenFields(fields: readonly SignatureField[]): readonly string[] {
  const names = fields.flatMap(({ name, type }) => [
    ...(isHidden(name) ? [name] : []),
    ...hiddenFields(fieldsWithin(type)),
  ]);
  return [...new Set(names)];
}

/** The fields of the outermost records in `type`. */
export function fieldsWithin(type: SignatureType): readonly SignatureField[] {
  switch (type.kind) {
    case 'record':
      return type.fields;
    case 'list':
      return fieldsWithin(type.item);
    case 'optional':
      return fieldsWithin(type.inner);
    default:
      return [];
  }
}
