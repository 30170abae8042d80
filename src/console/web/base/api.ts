/** The only place of the pages that asks the server. */
import type { ApiError } from '../../api.ts';
import { token } from './session.ts';

const API_PATH = '/api/v1';

/** Where the console is mounted: '' at the root of its server. */
export const BASE: string =
  document.querySelector('meta[name="everloop-base"]')?.getAttribute('content') ?? '';

/** A refusal of the server, or a server that did not answer. */
export class RequestFailed extends Error {
  /** `offline`: no answer came. */
  readonly code: ApiError['code'] | 'offline';
  readonly status: number;

  constructor(code: RequestFailed['code'], message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** How long a whole answer may take, in ms: the server gives a part at most 12 s. */
const ANSWER_MS = 60_000;

/**
 * Asks for `path`, which stands below the API, and reads the answer as JSON.
 *
 * @throws RequestFailed `internal` for an answer that does not come whole within a minute.
 */
export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const timer = setTimeout(end, ANSWER_MS);
  if (signal?.aborted === true) end();
  signal?.addEventListener('abort', end);
  try {
    return (await (await request(path, { signal: ended.signal })).json()) as Answer;
  } catch (error) {
    if (error instanceof RequestFailed || signal?.aborted === true) throw error;
    throw new RequestFailed('internal', 'The answer of the console did not come whole.', 0);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Sends `body` to `path`; `requestId` in it makes a repetition harmless. */
export async function post<Answer>(path: string, body: object): Promise<Answer> {
  return (await request(path, jsonBody('POST', body))).json() as Promise<Answer>;
}

/** Replaces what stands at `path`. */
export async function put(path: string, body: object): Promise<void> {
  await request(path, jsonBody('PUT', body));
}

/** The open answer to GET `path`, for the live feed. */
export async function open(path: string, signal: AbortSignal): Promise<Response> {
  return request(path, { signal, headers: { accept: 'text/event-stream' } });
}

/** An id for a click: 16 random bytes. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The path of a run below the API; ids contain slashes. */
export function runPath(id: string, rest = ''): string {
  return `/runs/${encodeURIComponent(id)}${rest}`;
}

function jsonBody(method: string, body: object): RequestInit {
  const headers = { 'content-type': 'application/json' };
  return { method, headers, body: JSON.stringify(body) };
}

async function request(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = token();
  if (key !== null) headers.set('authorization', `Bearer ${key}`);
  let response: Response;
  try {
    response = await fetch(`${BASE}${API_PATH}${path}`, { ...init, headers, cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new RequestFailed('offline', 'The console does not answer. It is asked again.', 0);
  }
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as ApiError | null;
  const message = body?.message ?? `The console answered with status ${response.status}.`;
  throw new RequestFailed(body?.code ?? 'internal', message, response.status);
}
