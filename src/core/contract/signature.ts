/**
 * The types of what goes into a run and comes out of it, as plain data: short enough to write in one
 * line, and all that prompts, schemas and coercion are made from.
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

/** An object with known fields; others are kept, or refused when it is `closed`. */
export interface RecordType {
  readonly kind: 'record';
  readonly fields: readonly SignatureField[];
  readonly closed?: true;
}

/** A parameter, or a field of a record. */
export interface SignatureField {
  readonly name: string;
  readonly type: SignatureType;
  /** What it means, for prompts and schemas. */
  readonly description?: string;
}

/** What goes in and what comes out. */
export interface Signature {
  readonly params: readonly SignatureField[];
  readonly output: SignatureType;
}

/** `type` without the mark that it may be absent. */
export function withoutOptional(type: SignatureType): Exclude<SignatureType, { kind: 'optional' }> {
  return type.kind === 'optional' ? withoutOptional(type.inner) : type;
}

/** Whether a name is hidden: models never see such a field or key, nor its value. */
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

/** The fields of the records inside `type`, those of the outermost records. */
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
