/**
 * Values as text, in three styles: `readable` (the reader accepts it), `text` (the result of `str`)
 * and `preview` (bounded, for people and models).
 */
import { Fault } from '../base/problem.ts';
import { withCommas } from '../base/with-commas.ts';
import { dateText } from './date-text.ts';
import { checkNesting } from './nesting.ts';
import { floatLiteral, floatText } from './number-text.ts';
import { treeKeys, treeVals } from './tree-walk.ts';
import { typeName, UNMETERED, type Meter, type Value } from './value.ts';
import { vectorAt, vectorCount } from './vector.ts';

/** The styles; see {@link printValue}. */
export type PrintStyle = 'readable' | 'text' | 'preview';

/** The bounds of a preview, with their defaults. */
export interface Bounds {
  /** Elements per collection; 50. */
  readonly elements?: number;
  /** Levels of nesting; 6. */
  readonly nesting?: number;
  /** Characters per string; 200. */
  readonly text?: number;
  /** Characters in all; 4,000. */
  readonly total?: number;
  /** Whether values under map keys that begin with `_` are shown as `"<hidden>"`; false. */
  readonly hides?: boolean;
}

/**
 * The text of `value` in a style. A value that is too large or nested too deep for `readable` or
 * `text` is shown as a preview. Never throws.
 */
export function printValue(value: Value, style: PrintStyle, bounds: Bounds = {}): string {
  if (style === 'preview') return previewValue(value, bounds);
  try {
    if (style === 'text') return textOf(value, UNMETERED, MAX_PRINTED);
    return readable(value, UNMETERED, MAX_PRINTED);
  } catch (thrown) {
    // It is nested too deep, or shared parts make it too large as a tree.
    if (!(thrown instanceof Fault)) throw thrown;
    return previewValue(value, bounds);
  }
}

/** Longer text is shown as a preview. This is the highest limit for one string. */
const MAX_PRINTED = 4_194_304;

/** The text of `value` as `str` gives it: raw text, empty for nil, collections readable. */
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
    if (kind === 'vector' || kind === 'map' || kind === 'set') checkNesting(nesting, meter);
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

/** The readable text of a value that is not a collection. */
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

/** `source` with a backslash before each quote that has none. */
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

interface Preview {
  readonly bounds: Required<Bounds>;
  readonly parts: string[];
  /** Characters left of the total. */
  room: number;
}

const DEFAULT_BOUNDS: Required<Bounds> = Object.freeze({
  elements: 50,
  nesting: 6,
  text: 200,
  total: 4_000,
  hides: false,
});

function previewValue(value: Value, given: Bounds): string {
  const bounds = { ...DEFAULT_BOUNDS, ...given };
  const preview: Preview = { bounds, parts: [], room: bounds.total };
  show(preview, value, 0);
  const text = preview.parts.join('');
  return text.length <= bounds.total ? text : `${cutText(text, bounds.total)}…`;
}

function emit(preview: Preview, text: string): void {
  preview.parts.push(text);
  preview.room -= text.length;
}

function show(preview: Preview, item: Value, nesting: number): void {
  const { text } = preview.bounds;
  if (typeof item === 'string') {
    const shown =
      item.length > text
        ? `${quoted(cutText(item, text)).slice(0, -1)}…" (${withCommas(item.length)} chars)`
        : quoted(item);
    return emit(preview, shown);
  }
  if (typeof item !== 'object' || item === null)
    return emit(preview, cutText(atomText(item), text));
  const deeper = nesting + 1;
  switch (item.kind) {
    case 'vector':
      return showItems(preview, ['[', vectorCount(item), ']'], nesting, (index) =>
        show(preview, vectorAt(item, index), deeper),
      );
    case 'set': {
      const members = treeKeys(item);
      return showItems(preview, ['#{', members.length, '}'], nesting, (index) =>
        show(preview, members[index] as Value, deeper),
      );
    }
    case 'map': {
      const keys = treeKeys(item);
      const vals = treeVals(item);
      return showItems(preview, ['{', keys.length, '}'], nesting, (index) => {
        const key = keys[index] as Value;
        show(preview, key, deeper);
        emit(preview, ' ');
        if (preview.bounds.hides && isHiddenKey(key)) emit(preview, '"<hidden>"');
        else show(preview, vals[index] as Value, deeper);
      });
    }
    case 'reduced':
      return show(preview, item.value, deeper);
    default:
      emit(preview, atomText(item));
  }
}

/** Shows a collection: as many items as the bounds allow, or `…` where it is nested too deep. */
function showItems(
  preview: Preview,
  [open, count, close]: readonly [open: string, count: number, close: string],
  nesting: number,
  showItem: (index: number) => void,
): void {
  const { bounds } = preview;
  if (nesting >= bounds.nesting && count > 0) return emit(preview, `${open}…${close}`);
  emit(preview, open);
  let shown = 0;
  while (shown < Math.min(count, bounds.elements) && preview.room > 0) {
    if (shown > 0) emit(preview, ' ');
    showItem(shown);
    shown += 1;
  }
  if (shown < count) {
    emit(preview, `${shown > 0 ? ' ' : ''}… (${withCommas(shown)}/${withCommas(count)})`);
  }
  emit(preview, close);
}

function isHiddenKey(key: Value): boolean {
  if (typeof key === 'string') return key.startsWith('_');
  return typeof key === 'object' && key?.kind === 'keyword' && key.name.startsWith('_');
}

/** `value` in at most 200 characters, for error messages. */
export function shortText(value: Value): string {
  return previewValue(value, { total: 200, elements: 20, text: 160, nesting: 4 });
}

/** The value with its kind, for messages: `the integer 5`, `nil`, `the string "a"`. */
export function describeValue(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return `the boolean ${String(value)}`;
  return `the ${typeName(value)} ${shortText(value)}`;
}
