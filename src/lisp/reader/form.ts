/** Forms: the output of the reader, each with its place in the source. */
import type { Span } from '../base/source.ts';
import type { Value } from '../value/value.ts';

/** One form of the source. */
export type Form =
  | LiteralForm
  | SymbolForm
  | { readonly kind: 'regex'; readonly source: string; readonly span: Span }
  | ListForm
  | { readonly kind: 'vector'; readonly items: readonly Form[]; readonly span: Span }
  | { readonly kind: 'map'; readonly items: readonly Form[]; readonly span: Span }
  | { readonly kind: 'set'; readonly items: readonly Form[]; readonly span: Span }
  /** `#( … )`; the items are those of the list inside. */
  | { readonly kind: 'fn'; readonly items: readonly Form[]; readonly span: Span }
  | { readonly kind: 'quote'; readonly form: Form; readonly span: Span }
  /** `#'name`. */
  | { readonly kind: 'var'; readonly symbol: SymbolForm; readonly span: Span };

/** nil, a boolean, a number, text, a character or a keyword. */
export interface LiteralForm {
  readonly kind: 'literal';
  readonly value: Value;
  readonly span: Span;
}

/** A name as written, with its namespace. */
export interface SymbolForm {
  readonly kind: 'symbol';
  readonly name: string;
  readonly span: Span;
}

/** `( … )`; it is empty only inside a quote. */
export interface ListForm {
  readonly kind: 'list';
  readonly items: readonly Form[];
  readonly span: Span;
}

/** The symbol at the head of a list, such as `if` in `(if …)`; empty if the head is no symbol. */
export function headOf(items: readonly Form[]): string {
  const [head] = items;
  return head?.kind === 'symbol' ? head.name : '';
}
