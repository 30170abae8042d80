/** `text` as a JSON string. */
export function quotedJson(text: string): string {
  return JSON.stringify(text);
}
