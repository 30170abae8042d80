/** The data that a program can read: a line for each key, with type, size and a sample. */
import type { ProgramSizes } from '../contract/spec.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { jsonType } from '../base/json-type.ts';
import { fromJson, printValue } from '../../lisp.ts';
import { withCommas } from '../../lisp/base/with-commas.ts';
import { isHidden } from '../contract/signature.ts';
import { framedLine } from './framing.ts';

/** The column after a name, unless the name is longer. */
const NAME_WIDTH = 18;

/** `;; data` and its lines; none without keys. Hidden keys show only their names. */
export function dataLines(
  context: JsonObject,
  descriptions: { readonly [name: string]: string },
  sizes: ProgramSizes,
): readonly string[] {
  const keys = Object.keys(context).filter((key) => key !== 'task');
  const lines = keys.map((key) => {
    const meaning = Object.hasOwn(descriptions, key) ? descriptions[key] : undefined;
    const about = meaning === undefined ? '' : ` -- ${framedLine(meaning)}`;
    const words = isHidden(key) ? 'hidden' : describe(context[key] ?? null, sizes);
    return `${nameOf(key).padEnd(NAME_WIDTH)} ; ${words}${about}`;
  });
  return lines.length === 0 ? [] : [';; data', ...lines];
}

/** A key that cannot be written as a symbol is listed too, so that the caller can rename it. */
function nameOf(key: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_?!.-]*$/.test(key)
    ? `data/${key}`
    : `; ${framedLine(JSON.stringify(key))} has no name in programs`;
}

function describe(value: Json, sizes: ProgramSizes): string {
  const sample = sampleOf(value, sizes);
  return sample === '' ? sizeOf(value) : `${sizeOf(value)}; sample: ${sample}`;
}

/** The kind of a value, named as in signatures, and its size. */
function sizeOf(value: Json): string {
  if (Array.isArray(value)) {
    const kinds = [...new Set(value.map((item: Json) => kindOf(item)))];
    const of = kinds.length === 0 ? '' : ` of ${kinds.length === 1 ? (kinds[0] ?? '') : 'any'}`;
    return `list${of}, ${counted(value.length, 'item')}`;
  }
  if (isJsonObject(value)) return `map, ${counted(Object.keys(value).length, 'key')}`;
  if (typeof value === 'string') return `string, ${counted(value.length, 'char')}`;
  return kindOf(value);
}

function kindOf(value: Json): string {
  const type = jsonType(value);
  switch (type) {
    case 'array':
      return 'list';
    case 'object':
      return 'map';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'float';
    default:
      return type === 'null' ? 'nil' : type;
  }
}

/** The first items of a list as far as there is room, or the beginning of any other value. */
function sampleOf(value: Json, { sampleItems, sampleChars }: ProgramSizes): string {
  const bounds = { elements: sampleItems, text: sampleChars, total: sampleChars, hides: true };
  const print = (json: Json): string => printValue(fromJson(json), 'preview', bounds);
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  if (!Array.isArray(value)) return framedLine(print(value));
  const shown: string[] = [];
  for (const item of value.slice(0, sampleItems) as readonly Json[]) {
    const text = print(item);
    const isFull = [...shown, text].join(' ').length > sampleChars;
    if (isFull && shown.length > 0) break;
    shown.push(text);
  }
  const rest = shown.length < value.length ? ' …' : '';
  return framedLine(`[${shown.join(' ')}${rest}]`);
}

function counted(count: number, noun: string): string {
  return `${withCommas(count)} ${noun}${count === 1 ? '' : 's'}`;
}
