/** `text` as a JSON string: the shortest escapes that JSON asks for. */
export function quotedJson(text: string): string {
  return JSON.stringify(text);
}
