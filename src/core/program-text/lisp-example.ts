/** A value of a type as a program writes it, for prompts. */
import { exampleIn, type Notation } from '../signature/example.ts';
import type { SignatureType } from '../contract/signature.ts';

/** Keys are keywords with `-` for `_`; programs also have hidden fields. */
const LISP: Notation = {
  keyword: ':name',
  separator: ' ',
  field: (name, value) => `${keyOf(name)} ${value}`,
  shows: () => true,
};

/** The program text of an example of `type`. */
export function exampleLisp(type: SignatureType): string {
  return exampleIn(LISP, type);
}

/** A key as a program writes it: a keyword if the name can be one. */
export function keyOf(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return JSON.stringify(name);
  const [leading = ''] = /^_*/.exec(name) ?? [];
  return `:${leading}${name.slice(leading.length).replaceAll('_', '-')}`;
}
