/** What a server asks within a call, in the words of a run, and the answers in those of the protocol. */
import { isDeeperThan, isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { CallInput, CallQuestion, CallResume } from '../../core/contract/call-input.ts';
import { cleanSchema } from '../catalogue/tool-schema.ts';
import { visibleText } from '../text/hidden-text.ts';

/** Requests of one answer; a form has many fields, so few are needed. */
const MAX_REQUESTS = 10;

/** UTF-8 bytes of the server's note, which the run keeps. */
const MAX_STATE_BYTES = 65_536;

/** Characters of a question. */
const MAX_MESSAGE = 2_000;

/** Characters of an address. */
const MAX_URL = 2_000;

/** Levels of a form, which is flat. */
const MAX_FORM_DEPTH = 10;

/** What a server asks, or why it cannot be asked. */
export type InputReading =
  | { readonly kind: 'input'; readonly input: CallInput }
  | { readonly kind: 'unfit'; readonly reason: string };

/** Reads an answer `input_required`. */
export function readQuestions(answer: { readonly [field: string]: unknown }): InputReading {
  const { inputRequests, requestState: state } = answer;
  if (typeof state === 'string' && Buffer.byteLength(state) > MAX_STATE_BYTES) {
    return unfit(`asked with a state of more than ${MAX_STATE_BYTES} bytes`);
  }
  const given = Object.entries(isPlainObject(inputRequests) ? inputRequests : {});
  if (given.length > MAX_REQUESTS)
    return unfit(`asked more than ${MAX_REQUESTS} questions at once`);
  const requests: Record<string, CallQuestion> = {};
  for (const [key, request] of given.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const read = readRequest(request);
    if (typeof read === 'string') return unfit(read);
    if (key === '__proto__') return unfit('asked under a key that no object can have');
    requests[key] = read;
  }
  const input = typeof state === 'string' ? { requests, state } : { requests };
  return { kind: 'input', input };
}

function unfit(reason: string): InputReading {
  return { kind: 'unfit', reason };
}

function readRequest(request: unknown): CallQuestion | string {
  const { method, params } = isPlainObject(request) ? request : {};
  if (method !== 'elicitation/create') {
    const name = typeof method === 'string' ? visibleText(method, 60).text : 'something unknown';
    return `needs ${name} of its client, which Everloop does not offer`;
  }
  const fields = isPlainObject(params) ? params : {};
  const { message, mode, url, requestedSchema } = fields;
  const text = visibleText(typeof message === 'string' ? message : '', MAX_MESSAGE).text;
  if (mode === 'url') {
    const isSafe = typeof url === 'string' && url.length <= MAX_URL && isWebAddress(url);
    return isSafe
      ? { kind: 'url', message: text, url }
      : 'asked to open an address that is no https one';
  }
  if (isDeeperThan(requestedSchema, MAX_FORM_DEPTH)) return 'asked with a form that nests too deep';
  const form = cleanSchema((requestedSchema ?? { type: 'object', properties: {} }) as Json);
  if (form.kind === 'unfit') return `asked with a form that cannot be used: ${form.reason}`;
  return { kind: 'form', message: text, form: form.schema };
}

/** A person opens it, so it is no script and no file. */
function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ['https:', 'http:'].includes(new URL(url).protocol);
}

/** The fields of a request that goes on with answers. */
export function resumeParams({ state, responses }: CallResume): JsonObject {
  const hasResponses = Object.keys(responses).length > 0;
  return {
    ...(hasResponses ? { inputResponses: responses as unknown as JsonObject } : undefined),
    ...(state === undefined ? undefined : { requestState: state }),
  };
}

/** The resumption that declines all requests of `input`. */
export function declined({ requests, state }: CallInput): CallResume {
  const responses = Object.fromEntries(
    Object.keys(requests).map((key) => [key, { action: 'decline' } as const]),
  );
  return state === undefined ? { responses } : { responses, state };
}
