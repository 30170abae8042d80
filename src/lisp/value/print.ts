/**
 * Values as text: readable (what the reader accepts back), text (what `str` makes) and preview
 * (bounded, for people and models).
 */
import { Fault } from '../base/problem.ts';
import { withCommas } from '../base/with-commas.ts';
import { dateText } from './date-text.ts';
import { floatLiteral, floatText } from './number-text.ts';
import { treeKeys, treeVals } from './tree-walk.ts';
import { typeName, UNMETERED, type Meter, type Value } from './value.ts';
import { vectorAt, vectorCount } from './vector.ts';

/** The three ways of printing; see {@link printValue}. */
export type PrintStyle = 'readable' | 'text' | 'preview';

/** How much a preview may show; each has a default. */
export interface Bounds {
  /** Elements per collection; 50. */
  readonly elements?: number;
  /** Levels of nesting; 6. */
  readonly nesting?: number;
  /** Characters per string; 200. */
  readonly text?: number;
  /** Characters in all; 4,000. */
  readonly total?: number;
  /** Under keys of maps that begin with `_`, `"<hidden>"` stands for the value; false. */
  readonly hides?: boolean;
}

/**
 * Text of `value`: `readable` reads back, `text` is as by `str`, `preview` is cut to `bounds`. What is
 * too large or nested too deep for the first two is shown as a preview. Never throws.
 */
export function printValue(value: Value, style: PrintStyle, bounds: Bounds = {}): string {
  if (style === 'preview') return previewValue(value, bounds);
  try {
    if (style === 'text') return textOf(value, UNMETERED, MAX_PRINTED);
    return readable(value, UNMETERED, MAX_PRINTED);
  } catch (thrown) {
    // Nested too deep, or endless as a tree because its parts are shared.
    if (!(thrown instanceof Fault)) throw thrown;
    return previewValue(value, bounds);
  }
}

/** Longer text is shown as a preview: it is the greatest length of one string. */
const MAX_PRINTED = 4_194_304;

/** The text of `value` as `str` makes it: raw text, empty for nil, collections readable. */
export function textOf(value: Value, meter: Meter, maxLength: number = Infinity): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') {
    if (value.kind === 'float') return floatText(value.value);
    if (value.kind === 'regex') return value.source;
    if (value.kind === 'date') return dateText(value);
    if (value.kind === 'keyword') return `:${value.name}`;
  }
  return readable(value, meter, maxLength);
}

/** The readable text of `value`. Fails with `size_exceeded` beyond `maxLength`. */
export function readable(value: Value, meter: Meter, maxLength: number = Infinity): string {
  const out: Output = { parts: [], length: 0, maxLength };
  write(value, meter, out, 0);
  return out.parts.join('');
}

interface Output {
  readonly parts: string[];
  length: number;
  readonly maxLength: number;
}

function put(out: Output, text: string): void {
  out.parts.push(text);
  out.length += text.length;
  if (out.length > out.maxLength) {
    throw new Fault(
      'size_exceeded',
      `The text would be longer than ${out.maxLength} units, which is the limit for one string.`,
    );
  }
}

function write(value: Value, meter: Meter, out: Output, nesting: number): void {
  meter.charge(1);
  if (typeof value === 'object' && value !== null) {
    const { kind } = value;
    if (kind === 'vector' || kind === 'map' || kind === 'set') {
      if (nesting > meter.maxNesting) {
        throw new Fault(
          'depth_exceeded',
          `A value is nested more than ${meter.maxNesting} deep here. Build flatter data, or take it apart with \`loop\`/\`recur\`.`,
        );
      }
    }
    if (kind === 'vector') {
      put(out, '[');
      const count = vectorCount(value);
      for (let index = 0; index < count; index++) {
        if (index > 0) put(out, ' ');
        write(vectorAt(value, index), meter, out, nesting + 1);
      }
      put(out, ']');
      return;
    }
    if (kind === 'map') {
      const keys = treeKeys(value);
      const vals = treeVals(value);
      put(out, '{');
      for (let index = 0; index < keys.length; index++) {
        if (index > 0) put(out, ' ');
        write(keys[index] as Value, meter, out, nesting + 1);
        put(out, ' ');
        write(vals[index] as Value, meter, out, nesting + 1);
      }
      put(out, '}');
      return;
    }
    if (kind === 'set') {
      put(out, '#{');
      for (const [index, item] of treeKeys(value).entries()) {
        if (index > 0) put(out, ' ');
        write(item, meter, out, nesting + 1);
      }
      put(out, '}');
      return;
    }
    if (kind === 'reduced') {
      write(value.value, meter, out, nesting + 1);
      return;
    }
  }
  const text = atomText(value);
  meter.charge(text.length >>> 4);
  put(out, text);
}

/** The readable text of a value that is no collection. */
function atomText(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object') return String(value);
  switch (value.kind) {
    case 'float':
      return floatLiteral(value.value);
    case 'keyword':
      return `:${value.name}`;
    case 'symbol':
      return `'${value.name}`;
    case 'var':
      return `#'${value.name}`;
    case 'regex':
      return `#"${regexBody(value.source)}"`;
    case 'date':
      return `#${value.of}[${dateText(value)}]`;
    case 'closure':
      return value.code.name === null ? '#fn' : `#fn[${value.code.name}]`;
    case 'builtin':
    case 'combinator':
      return `#fn[${value.name}]`;
    case 'tool':
      return `#tool[${value.name}]`;
    default:
      return `#${value.kind}`;
  }
}

/** A quote in a pattern needs a backslash, unless one stands before it already. */
function regexBody(source: string): string {
  let body = '';
  for (let index = 0; index < source.length; index++) {
    const character = source.charAt(index);
    if (character === '\\') {
      body += character + source.charAt(index + 1);
      index += 1;
    } else body += character === '"' ? '\\"' : character;
  }
  return body;
}

/** `text` between quotes, with the escapes that the reader knows. */
function quoted(text: string): string {
  let out = '"';
  let from = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x20 && unit !== 0x22 && unit !== 0x5c && unit !== 0x7f) continue;
    out += text.slice(from, index) + escapeOf(unit);
    from = index + 1;
  }
  return `${out}${text.slice(from)}"`;
}

function escapeOf(unit: number): string {
  switch (unit) {
    case 0x22:
      return '\\"';
    case 0x5c:
      return '\\\\';
    case 0x0a:
      return '\\n';
    case 0x09:
      return '\\t';
    case 0x0d:
      return '\\r';
    default:
      return `\\u${unit.toString(16).padStart(4, '0').toUpperCase()}`;
  }
}

/** The first `length` units of `text`, never half a surrogate pair. */
export function cutText(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

function previewValue(value: Value, bounds: Bounds): string {
  const limits = {
    elements: bounds.elements ?? 50,
    nesting: bounds.nesting ?? 6,
    text: bounds.text ?? 200,
    total: bounds.total ?? 4_000,
  };
  const out: string[] = [];
  let room = limits.total;
  const emit = (text: string): void => {
    out.push(text);
    room -= text.length;
  };
  const list = (
    open: string,
    count: number,
    close: string,
    each: (index: number) => void,
  ): void => {
    emit(open);
    let shown = 0;
    while (shown < Math.min(count, limits.elements) && room > 0) {
      if (shown > 0) emit(' ');
      each(shown);
      shown += 1;
    }
    if (shown < count) emit(`${shown > 0 ? ' ' : ''}… (${withCommas(shown)}/${withCommas(count)})`);
    emit(close);
  };
  const show = (item: Value, nesting: number): void => {
    if (typeof item === 'string') {
      const cut = item.length > limits.text;
      emit(
        cut
          ? `${quoted(cutText(item, limits.text)).slice(0, -1)}…" (${withCommas(item.length)} chars)`
          : quoted(item),
      );
      return;
    }
    if (typeof item !== 'object' || item === null) {
      emit(cutText(atomText(item), limits.text));
      return;
    }
    const deep = nesting >= limits.nesting;
    if (item.kind === 'vector') {
      if (deep && vectorCount(item) > 0) emit('[…]');
      else list('[', vectorCount(item), ']', (index) => show(vectorAt(item, index), nesting + 1));
    } else if (item.kind === 'set') {
      const members = treeKeys(item);
      if (deep && members.length > 0) emit('#{…}');
      else list('#{', members.length, '}', (index) => show(members[index] as Value, nesting + 1));
    } else if (item.kind === 'map') {
      const keys = treeKeys(item);
      const vals = treeVals(item);
      if (deep && keys.length > 0) emit('{…}');
      else
        list('{', keys.length, '}', (index) => {
          const key = keys[index] as Value;
          show(key, nesting + 1);
          emit(' ');
          if (bounds.hides === true && isHiddenKey(key)) emit('"<hidden>"');
          else show(vals[index] as Value, nesting + 1);
        });
    } else if (item.kind === 'reduced') show(item.value, nesting + 1);
    else emit(atomText(item));
  };
  show(value, 0);
  const text = out.join('');
  return text.length <= limits.total ? text : `${cutText(text, limits.total)}…`;
}

function isHiddenKey(key: Value): boolean {
  if (typeof key === 'string') return key.startsWith('_');
  return typeof key === 'object' && key?.kind === 'keyword' && key.name.startsWith('_');
}

/** `value` in at most 200 characters, as error messages show it. */
export function shortText(value: Value): string {
  return previewValue(value, { total: 200, elements: 20, text: 160, nesting: 4 });
}

/** The value with its kind, for messages: `the integer 5`, `nil`, `the string "a"`. */
export function describeValue(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return `the boolean ${String(value)}`;
  return `the ${typeName(value)} ${shortText(value)}`;
}
