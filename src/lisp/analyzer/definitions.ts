/**
 * Finds the definitions of a program before its forms are analyzed, so that functions may use names
 * that are defined later.
 *
 * I1  Definitions inside other forms count; those in `comment` and `quote` do not.
 * I2  `declare` makes a name known without counting as a definition.
 */
import type { Form } from '../reader/form.ts';
import type { Definition } from './analysis.ts';

const DEFINING: ReadonlySet<string> = new Set(['def', 'defn', 'defn-', 'defonce', 'declare']);

/** The definitions of a program by name. */
export function findDefinitions(forms: readonly Form[]): Map<string, Definition> {
  const found = new Map<string, Definition>();
  for (const form of forms) visit(form, found);
  return found;
}

function visit(form: Form, found: Map<string, Definition>): void {
  if (form.kind === 'quote' || form.kind === 'literal' || form.kind === 'symbol') return;
  if (form.kind === 'regex' || form.kind === 'var') return;
  const [head, second, third] = form.items;
  const name = form.kind === 'list' || form.kind === 'fn' ? head : undefined;
  if (name?.kind === 'symbol') {
    if (name.name === 'comment' || name.name === 'quote') return;
    if (name.name === 'declare') {
      for (const item of form.items.slice(1))
        if (item.kind === 'symbol')
          add(found, item.name, { count: 0, end: item.span.end, arity: null });
      return;
    }
    if (DEFINING.has(name.name) && second?.kind === 'symbol') {
      const isFunction = name.name.startsWith('defn');
      const end = isFunction ? second.span.end : form.span.end;
      add(found, second.name, { count: 1, end, arity: arityOf(form.items, isFunction, third) });
    }
  }
  for (const item of form.items) visit(item, found);
}

function add(found: Map<string, Definition>, name: string, next: Definition): void {
  const known = found.get(name);
  if (known === undefined) found.set(name, next);
  else if (known.count === 0) found.set(name, { ...next, end: known.end });
  else known.count += next.count;
}

function arityOf(
  items: readonly Form[],
  isFunction: boolean,
  third: Form | undefined,
): Definition['arity'] {
  if (isFunction) {
    const hasDoc = third?.kind === 'literal' && typeof third.value === 'string';
    return paramsOf(hasDoc ? items[3] : third);
  }
  const value = items[items.length - 1];
  if (value?.kind !== 'list' || items.length < 3) return null;
  const [head, first, second] = value.items;
  if (head?.kind !== 'symbol' || head.name !== 'fn') return null;
  return paramsOf(first?.kind === 'symbol' ? second : first);
}

function paramsOf(form: Form | undefined): Definition['arity'] {
  if (form?.kind !== 'vector') return null;
  const amp = form.items.findIndex((item) => item.kind === 'symbol' && item.name === '&');
  const params = amp < 0 ? form.items.length : amp;
  return { params, rest: amp >= 0, signature: signatureOf(form.items) };
}

/** Parameters as messages show them: `(w h)`, `(a & more)`; patterns as `[…]` and `{…}`. */
export function signatureOf(items: readonly Form[]): string {
  const words = items.map((item) => {
    if (item.kind === 'symbol') return item.name;
    return item.kind === 'map' ? '{…}' : '[…]';
  });
  return `(${words.join(' ')})`;
}
