/**
 * The top-level forms of a program, each with the names that it defines and mentions.
 *
 * I1  Names are found in the text; nothing is resolved, so names of locals are listed as well.
 */
import type { Form } from '../reader/form.ts';
import { findDefinitions } from './definitions.ts';

/** A top-level form. Names are as written: `total`, `tool/price`, `data/rows`. */
export interface TopForm {
  readonly source: string;
  /** Names that it defines at any depth, in order. */
  readonly defines: readonly string[];
  /** All symbols in it, each once, except in quoted forms. */
  readonly mentions: readonly string[];
}

/** The top-level forms of a program that was read, in order. Linear in its text. */
export function topForms({
  source,
  forms,
}: {
  readonly source: string;
  readonly forms: readonly Form[];
}): readonly TopForm[] {
  return forms.map((form) => ({
    source: source.slice(form.span.start, form.span.end),
    defines: [...findDefinitions([form]).keys()],
    mentions: [...new Set(symbolsIn(form))],
  }));
}

function symbolsIn(form: Form): readonly string[] {
  switch (form.kind) {
    case 'symbol':
      return [form.name];
    case 'var':
      return [form.symbol.name];
    case 'list':
    case 'vector':
    case 'map':
    case 'set':
    case 'fn':
      return form.items.flatMap(symbolsIn);
    case 'literal':
    case 'regex':
    case 'quote':
      return [];
  }
}
