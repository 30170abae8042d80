/**
 * Forms as data.
 *
 * I1  Nothing inside a quoted form is resolved or evaluated.
 */
import type { Form } from '../reader/form.ts';
import { mapOf, setOf } from '../value/tree.ts';
import { UNMETERED, type Value } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';

/** The data of a quoted form: lists and vectors become vectors, names become symbol references. */
export function quotedValue(form: Form): Value {
  switch (form.kind) {
    case 'literal':
      return form.value;
    case 'symbol':
      return { kind: 'symbol', name: form.name };
    case 'list':
    case 'vector':
      return vectorOf(form.items.map(quotedValue));
    case 'map': {
      const values = form.items.map(quotedValue);
      const keys = values.filter((_, index) => index % 2 === 0);
      const vals = values.filter((_, index) => index % 2 === 1);
      return mapOf(keys, vals, UNMETERED);
    }
    case 'set':
      return setOf(form.items.map(quotedValue), UNMETERED);
    case 'quote':
      return vectorOf([{ kind: 'symbol', name: 'quote' }, quotedValue(form.form)]);
    case 'var':
      return { kind: 'var', name: form.symbol.name };
    case 'fn':
      return vectorOf([{ kind: 'symbol', name: 'fn' }, ...form.items.map(quotedValue)]);
    case 'regex':
      return form.source;
  }
}

/** The value of a form that contains literals only, or undefined. */
export function literalValue(form: Form): Value | undefined {
  switch (form.kind) {
    case 'literal':
      return form.value;
    case 'quote':
      return quotedValue(form.form);
    case 'vector':
    case 'map':
    case 'set': {
      const values = form.items.map(literalValue);
      if (values.includes(undefined)) return undefined;
      return quotedValue({ ...form, items: form.items });
    }
    default:
      return undefined;
  }
}
