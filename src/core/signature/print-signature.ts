/** Signatures as text: as they are written, and as models read them. */
import type { Signature, SignatureField, SignatureType } from '../contract/signature.ts';

/** The text of a signature: `(a :int) -> {x :string?}`, without parameters `-> {x :string?}`. */
export function printSignature({ params, output }: Signature): string {
  const type = printType(output);
  return params.length === 0 ? `-> ${type}` : `(${printFields(params)}) -> ${type}`;
}

/** The text of a type as a signature has it. */
export function printType(type: SignatureType): string {
  return typeText(type, (name) => name, ':');
}

/** The text of a type in prompts: without colons, `-` for `_` in names. */
export function promptType(type: SignatureType): string {
  return typeText(type, promptName, '');
}

/** A name in prompts: `-` for `_`, except leading ones, which mark hidden names. */
export function promptName(name: string): string {
  const [leading = ''] = /^_*/.exec(name) ?? [];
  return leading + name.slice(leading.length).replaceAll('_', '-');
}

function printFields(fields: readonly SignatureField[]): string {
  return fields.map(({ name, type }) => `${name} ${printType(type)}`).join(', ');
}

function typeText(type: SignatureType, nameOf: (name: string) => string, mark: ':' | ''): string {
  switch (type.kind) {
    case 'list':
      return `[${typeText(type.item, nameOf, mark)}]`;
    case 'record': {
      const fields = type.fields.map(
        (field) => `${nameOf(field.name)} ${typeText(field.type, nameOf, mark)}`,
      );
      return `{${fields.join(', ')}}`;
    }
    case 'optional':
      // Optional twice is optional.
      return type.inner.kind === 'optional'
        ? typeText(type.inner, nameOf, mark)
        : `${typeText(type.inner, nameOf, mark)}?`;
    default:
      return `${mark}${type.kind}`;
  }
}
