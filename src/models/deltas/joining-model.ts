/** Models whose streams are joined before the AI SDK parses them. */
import type { ReadableStream } from 'node:stream/web';
import { isPlainObject } from '../../core/base/json.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { protocolOf } from './delta-shape.ts';
import { joinedBody, type JoinOptions } from './joined-body.ts';

/**
 * `model` for one call, which joins adjacent pieces of its replies; `model` itself if its adapter was
 * not checked, or takes no `fetch`. `model` does not change.
 */
export function joiningModel(
  model: LanguageModel,
  options: Omit<JoinOptions, 'protocol'>,
): LanguageModel {
  const config: unknown = Reflect.get(model, 'config');
  const protocol = protocolOf(model);
  if (protocol === undefined || !isPlainObject(config) || !('fetch' in config)) return model;
  const { fetch: own = globalThis.fetch, metadataExtractor } = config;
  // An extractor is the user's code, and sees each event.
  if (typeof own !== 'function' || metadataExtractor !== undefined) return model;
  const fetch = async (...request: readonly unknown[]): Promise<unknown> =>
    joined((await Reflect.apply(own, undefined, request)) as unknown, { ...options, protocol });
  const joining: LanguageModel = Object.create(model, {
    config: { value: { ...config, fetch } },
  });
  return joining;
}

/** `response` with a joined body, if it is a stream of events. */
function joined(response: unknown, options: JoinOptions): unknown {
  if (!(response instanceof Response) || response.status !== 200 || response.body === null) {
    return response;
  }
  const { body, status, statusText, headers } = response;
  if (!/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return response;
  const stream = joinedBody(body as ReadableStream<Uint8Array>, options);
  return new Response(stream as unknown as ConstructorParameters<typeof Response>[0], {
    status,
    statusText,
    headers,
  });
}
