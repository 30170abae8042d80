/** A value of a type as a program writes it, for prompts. */
import type { SignatureType } from '../signature/signature.ts';

/** The program text of an example of `type`: keys as keywords with `-` for `_`. */
export function exampleLisp(type: SignatureType): string {
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
      return ':name';
    case 'datetime':
      return '"2026-05-03T09:14:00Z"';
    case 'any':
      return '"anything"';
    case 'map':
      return '{}';
    case 'list':
      return `[${exampleLisp(type.item)}]`;
    case 'optional':
      return exampleLisp(type.inner);
    case 'record': {
      const fields = type.fields.map(({ name, type: of }) => `${keyOf(name)} ${exampleLisp(of)}`);
      return `{${fields.join(' ')}}`;
    }
  }
}

/** A key as a program writes it: a keyword where the name can be one. */
export function keyOf(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return JSON.stringify(name);
  const [leading = ''] = /^_*/.exec(name) ?? [];
  return `:${leading}${name.slice(leading.length).replaceAll('_', '-')}`;
}
