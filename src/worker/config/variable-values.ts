/** Reads values of variables, whichever they are of. */

/** Reports a value of a variable that does not fit, and returns undefined. */
export type Refuse = (expected: string, got?: string, advice?: string) => undefined;

/** Reads the text of a variable that is set. */
export type ReadVariable<Value> = (text: string, refuse: Refuse) => Value | undefined;

/** Any text. */
export function asItIs(text: string): string {
  return text;
}

/** A name of at most `maxBytes` bytes. */
export function nameUpTo(maxBytes: number): ReadVariable<string> {
  return (text, refuse) => {
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return text;
    return refuse(`to be a name of at most ${maxBytes} bytes`, `${bytes}`, 'Shorten it.');
  };
}

/** A name in which `problemOf` finds no problem: `to be …`. */
export function nameOf(problemOf: (text: string) => string | null): ReadVariable<string> {
  return (text, refuse) => {
    const problem = problemOf(text);
    return problem === null ? text : refuse(problem);
  };
}

/** A number of `what` from 0 to `max`. */
export function wholeNumber(what: string, max: number): ReadVariable<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? 'from 0 up' : `from 0 to ${max}`;
  return (text, refuse) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number <= max) return number;
    return refuse(`to be a whole number of ${what} ${range}`);
  };
}

/** A number of `what` from 0 up, or `Infinity`. */
export function wholeNumberOrInfinity(what: string): ReadVariable<number> {
  return (text, refuse) => {
    if (text === 'Infinity' || /^\d{1,15}$/.test(text)) return Number(text);
    return refuse(`to be a whole number of ${what} from 0 up, or Infinity`);
  };
}

/** `on` or `off`. */
export function onOrOff(text: string, refuse: Refuse): boolean | undefined {
  return text === 'on' || text === 'off' ? text === 'on' : refuse('to be `on` or `off`');
}

/** One of `values`, as it is written there. */
export function oneOf<Value extends string>(values: readonly Value[]): ReadVariable<Value> {
  return (text, refuse) =>
    values.find((value) => value === text) ?? refuse(`to be one of ${values.join(', ')}`);
}

/** Items with commas or spaces between them. */
export function listed(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** The beginning of a value, as messages show it. */
export function quoted(value: string): string {
  return `\`${value.slice(0, 200)}\``;
}
