/** The message of a thrown value; the text of what is thrown and is no `Error`. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
