/** Models whose streams are joined or put in order before the AI SDK parses them. */
import type { ReadableStream } from 'node:stream/web';
import { isPlainObject } from '../../core/base/json.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { protocolOf } from './delta-shape.ts';
import { joinedBody, type JoinOptions } from './joined-body.ts';
import { orderedParts } from './part-order.ts';

/**
 * `model` for one call, which joins adjacent pieces of its replies, or those of Gemini in their order;
 * `model` itself if its adapter was not checked, or takes no `fetch`. `model` does not change.
 */
export function joiningModel(
  model: LanguageModel,
  options: Omit<JoinOptions, 'protocol'>,
): LanguageModel {
  const config: unknown = Reflect.get(model, 'config');
  const protocol = protocolOf(model);
  const isGoogle = /^(?:google|vertex)\b(?!\S*anthropic)/.test(model.provider);
  if (!isPlainObject(config) || !('fetch' in config)) return model;
  if (protocol === undefined && !isGoogle) return model;
  const { fetch: own = globalThis.fetch, metadataExtractor } = config;
  // An extractor is the user's code, and sees each event.
  if (typeof own !== 'function' || metadataExtractor !== undefined) return model;
  const fetch = async (...request: readonly unknown[]): Promise<unknown> =>
    changed((await Reflect.apply(own, undefined, request)) as unknown, (body) =>
      protocol === undefined ? orderedParts(body) : joinedBody(body, { ...options, protocol }),
    );
  const joining: LanguageModel = Object.create(model, {
    config: { value: { ...config, fetch } },
  });
  return joining;
}

type Body = ReadableStream<Uint8Array>;

/** `response` with its body after `change`, if it is a stream of events. */
function changed(response: unknown, change: (body: Body) => Body): unknown {
  if (!(response instanceof Response) || response.status !== 200 || response.body === null) {
    return response;
  }
  const { body, status, statusText, headers } = response;
  if (!/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return response;
  const stream = change(body as Body);
  return new Response(stream as unknown as ConstructorParameters<typeof Response>[0], {
    status,
    statusText,
    headers,
  });
}
