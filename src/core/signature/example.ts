/** An example of a type in a notation: what a model that is to write such a value sees of it. Pure. */
import type { SignatureType } from '../contract/signature.ts';

/** How values are written, where notations differ. */
export interface Notation {
  /** A keyword with the name `name`. */
  readonly keyword: string;
  /** What stands between two fields. */
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
