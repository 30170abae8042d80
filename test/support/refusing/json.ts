/** Bodies of requests as a server reads them: JSON of any shape. */

/** An object of a body. */
export type Fields = { readonly [name: string]: unknown };

/** The objects of a list; what is no list has none. */
export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map((item) => Object(item) as Fields) : [];
}

/** The text of a field. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether `signature` is one of another provider: transcripts of tests sign with `{provider}:`. */
export function isForeign(signature: unknown, provider: string): boolean {
  const [, signer = provider] = /^(anthropic|google|openai):/.exec(textOf(signature)) ?? [];
  return signer !== provider;
}

/** Whether texts of `messages` name JSON, which a mode without a schema asks for. */
export function saysJson(messages: unknown): boolean {
  return /json/i.test(JSON.stringify(messages));
}

/** The first value that occurs twice. */
export function repeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}
