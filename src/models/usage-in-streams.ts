/**
 * Asks OpenAI-compatible servers for usage in streams. Their adapter does so only when it was made
 * with `includeUsage`; without usage, limits on tokens and cost would not hold.
 */
import { askingForUsage } from '../define/model/openai-compatible.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { Reply } from '../core/contract/model.ts';
import type { ModelCollector } from './model-stream.ts';
import type { SdkCallOptions } from './specification.ts';

/** Models whose servers refuse to be asked. */
const refusing = new WeakSet<LanguageModel>();

/** Streams one call, with usage if the server knows how to report it. */
export async function streamWithUsage(
  collector: Pick<ModelCollector, 'stream'>,
  model: LanguageModel,
  options: SdkCallOptions,
): Promise<Reply> {
  const asking = refusing.has(model) ? undefined : askingForUsage(model);
  if (asking === undefined) return collector.stream(model, options);
  try {
    return await collector.stream(asking, options);
  } catch (error) {
    if (options.abortSignal?.aborted === true || !refusesToReport(error)) throw error;
    const reply = await collector.stream(model, options);
    refusing.add(model);
    return reply;
  }
}

/** Whether a server refused the request for the field that asks for usage. */
function refusesToReport(error: unknown): boolean {
  const { statusCode, message, responseBody } = Object(error) as {
    readonly [key: string]: unknown;
  };
  const texts = [message, responseBody].filter((text) => typeof text === 'string');
  return (
    (statusCode === 400 || statusCode === 422) &&
    texts.some((text) => /stream_options|include_usage/.test(text))
  );
}
