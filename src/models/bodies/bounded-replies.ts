/**
 * Calls of models whose responses are bounded, and whose requests stay at the host of their provider.
 *
 * A model of a provider package sends its requests by the `fetch` of its configuration. A model that has
 * none there, such as one that middleware of the AI SDK wraps, sends them by the global `fetch`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ReadableStream } from 'node:stream/web';
import { isPlainObject } from '../../core/base/json.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { boundedBody, errorBody } from './bounded-body.ts';
import { sendToSameHost } from './same-host.ts';
import { eventMeter, frameMeter, wholeMeter, type MessageMeter } from './message-meter.ts';

/** How a model is asked for its reply. */
export type ReplyForm = 'stream' | 'whole';

/**
 * Runs `call` with `model`, whose responses are bounded. `model` does not change. `onDone`: called when
 * a stream says by its last event that it is complete.
 */
export async function withBoundedReplies<Result>(
  model: LanguageModel,
  form: ReplyForm,
  call: (bounded: LanguageModel) => Promise<Result>,
  onDone?: () => void,
): Promise<Result> {
  const bound: Bound = (response) =>
    boundedResponse(response, (contentType) => meterOf(form, model.provider, contentType, onDone));
  const config: unknown = Reflect.get(model, 'config');
  if (!isPlainObject(config) || !('fetch' in config)) {
    boundGlobalFetch();
    return bounds.run(bound, () => call(model));
  }
  const { fetch: own } = config;
  const fetch: Fetch = async (...request) => {
    const send = typeof own === 'function' ? (own as Fetch) : globalThis.fetch;
    return bound(await sendToSameHost(send)(...request));
  };
  return call(Object.create(model, { config: { value: { ...config, fetch } } }) as LanguageModel);
}

type Fetch = typeof globalThis.fetch;
type Bound = (response: Response) => Response;

/** What bounds the responses to requests of the current call. */
const bounds = new AsyncLocalStorage<Bound>();

/** What was put in the place of the global `fetch`; outside of such calls it does as the other. */
const wrapped = new WeakSet<object>();

/** Wraps the global `fetch`, once, or again after somebody has replaced it. */
function boundGlobalFetch(): void {
  const { fetch } = globalThis;
  if (wrapped.has(fetch)) return;
  const bounding: Fetch = async (...request) => {
    const bound = bounds.getStore();
    if (bound === undefined) return fetch(...request);
    return bound(await sendToSameHost(fetch)(...request));
  };
  wrapped.add(bounding);
  globalThis.fetch = bounding;
}

/** Statuses of responses that have no body. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** `response` with bounds, also one of another implementation of `fetch`. */
function boundedResponse(
  response: Response,
  meterFor: (contentType: string) => MessageMeter,
): Response {
  const { body, status, statusText, headers } = Object(response) as Partial<Response>;
  if (typeof body?.getReader !== 'function' || headers === undefined) return response;
  if (status === undefined || status < 200 || status > 599 || WITHOUT_BODY.includes(status)) {
    return response;
  }
  const bytes = body as ReadableStream<Uint8Array>;
  const bounded =
    status >= 300
      ? errorBody(bytes)
      : boundedBody(bytes, meterFor(headers.get('content-type') ?? ''));
  return new Response(bounded as unknown as ConstructorParameters<typeof Response>[0], {
    status,
    statusText: (statusText ?? '').replace(/[^\t\x20-\x7e]/g, ''),
    headers: [...headers.entries()],
  });
}

/** Only who asked tells a stream: a provider may say anything of what it sends. */
function meterOf(
  form: ReplyForm,
  provider: string,
  contentType: string,
  onDone?: () => void,
): MessageMeter {
  if (form === 'whole') return wholeMeter();
  const isFramed =
    provider.includes('bedrock') && contentType.startsWith('application/vnd.amazon.eventstream');
  return isFramed ? frameMeter() : eventMeter(onDone);
}
