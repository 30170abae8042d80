/** An example of a type in a notation, for models that are to write such a value. */
import type { SignatureType } from '../contract/signature.ts';

/** The differences between notations. */
export interface Notation {
  /** A keyword with the name `name`. */
  readonly keyword: string;
  /** The text between two fields. */
  readonly separator: string;
  /** A field, from its name and its written value. */
  readonly field: (name: string, value: string) => string;
  /** Whether a field of this name is shown. */
  readonly shows: (name: string) => boolean;
}

/** A value of `type` on one line. */
export function exampleIn(notation: Notation, type: SignatureType): string {
  switch (type.kind) {
    case 'string':
      return '"text"';
    case 'int':
      return '1';
    case 'float':
      return '1.5';
    case 'bool':
      return 'true';
    case 'keyword':
      return notation.keyword;
    case 'datetime':
      return '"2026-05-03T09:14:00Z"';
    case 'any':
      return '"anything"';
    case 'map':
      return '{}';
    case 'list':
      return `[${exampleIn(notation, type.item)}]`;
    case 'optional':
      return exampleIn(notation, type.inner);
    case 'record': {
      const fields = type.fields
        .filter(({ name }) => notation.shows(name))
        .map((field) => notation.field(field.name, exampleIn(notation, field.type)));
      return `{${fields.join(notation.separator)}}`;
    }
  }
}
