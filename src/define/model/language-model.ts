/** What a provider package of the AI SDK gives, as far as it is used here. */

/**
 * A language model of the AI SDK 6 (specification v3) or 7 (specification v4), of any provider
 * package: `openai('gpt-5-mini')`, `anthropic('claude-sonnet-4-5')`, …
 *
 * These are fewer fields than the AI SDK's own types have, so that a release of a provider that
 * adds to them fits without an update of this package (see decision 160).
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3' | 'v4';
  /** `openai.responses`, `anthropic.messages`, … */
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<object>;
  doStream(options: never): PromiseLike<object>;
}

/** The specifications of language models that are read. */
export const SPECIFICATIONS: readonly unknown[] = ['v3', 'v4'];
