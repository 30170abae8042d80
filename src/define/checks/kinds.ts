/** The kinds of values that options take. A table may replace their advice or code by a spread. */
import type { Kind } from './fields.ts';

/** Whether a text has more than whitespace. */
export function isText(value: unknown): value is string {
  return isString(value) && value.trim() !== '';
}

/** Whether `value` is a text, which may be empty. */
export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Whether a factory of the package made `value`; programs without types may pass anything. */
export function hasKind(value: unknown, kind: string): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}

/** Whether `value` is a whole number within the bounds, which are included. */
export function isWhole(value: unknown, min: number, max: number = Infinity): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** A test for lists whose items all pass `fits`. */
export function listOf(fits: (item: unknown) => boolean): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.every(fits);
}

/** A text with something in it. */
export const TEXT: Kind = { wanted: 'to be a text', fits: isText };

/** A text, which may be empty. */
export const STRING: Kind = { wanted: 'to be a text', fits: isString };

/** A list of texts with something in them. */
export const TEXTS: Kind = { wanted: 'to be a list of texts', fits: listOf(isText) };

/** A list of anything; its items have checks of their own. */
export const LIST: Kind = {
  wanted: 'to be a list',
  fits: Array.isArray,
  advice: 'Write it as a list.',
};

/** An object that is not a list. */
export const OBJECT: Kind = {
  wanted: 'to be an object',
  fits: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** A function. */
export const FUNCTION: Kind = {
  wanted: 'to be a function',
  fits: (value: unknown) => typeof value === 'function',
};

/** A boolean. */
export const SWITCH: Kind = {
  wanted: 'to be true or false',
  fits: (value: unknown) => typeof value === 'boolean',
};

/** A whole number within the bounds, which are included. */
export function range(min: number, max: number = Infinity): Kind {
  return {
    wanted: bounds(min, max),
    fits: (value: unknown) => isWhole(value, min, max),
    code: 'number',
  };
}

/** A time that may also be without end. */
export const DURATION: Kind = {
  wanted: 'to be milliseconds from 0 up, or Infinity',
  fits: (value: unknown) => value === Infinity || isWhole(value, 0),
  code: 'number',
};

/** As {@link range}, but the message says that the number must be whole. */
export function wholeNumber(min: number, max: number = Infinity): Kind {
  return {
    wanted: `to be a whole number ${bounds(min, max)}`,
    fits: (value: unknown) => isWhole(value, min, max),
  };
}

/** One of `choices`. */
export function oneOf(...choices: readonly unknown[]): Kind {
  return {
    wanted: `to be one of ${choices.join(', ')}`,
    fits: (value: unknown) => choices.includes(value),
    advice: 'Choose one of them.',
  };
}

function bounds(min: number, max: number): string {
  return max === Infinity ? `from ${min} up` : `from ${min} to ${max}`;
}

/** The items that occur more than once in `list`, each listed once. */
export function repeated<Item>(list: readonly Item[]): readonly Item[] {
  return [...new Set(list.filter((item, index) => list.indexOf(item) !== index))];
}
