/** The message of a thrown `Error`; any other thrown value as text. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
