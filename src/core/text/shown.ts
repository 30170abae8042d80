/** Characters of a value that a message for programmers shows. */
const MAX_SHOWN_CHARACTERS = 200;

/** `value` in a few words for a message to a programmer: its JSON, shortened, or its kind. */
export function shown(value: unknown): string {
  if (value === undefined) return 'none';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  const text = jsonOf(value);
  if (text === undefined) return 'an object that is not JSON';
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // Cycles, bigints and getters that throw have no JSON.
    return undefined;
  }
}
