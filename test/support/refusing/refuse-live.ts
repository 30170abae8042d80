/**
 * Every provider that a test plays refuses what a real one refuses: it answers 400, in the words and the
 * form of its protocol, before its handler has seen the whole request. Requests are heard by Node's own
 * channel of HTTP servers, so no mock has to be told.
 */
import diagnostics from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Fields } from './json.ts';
import { refusalOf, refuse } from './refusing-provider.ts';

/** Where requests to models go. */
const MODEL_PATH =
  /^\S*\/(?:chat\/completions|responses|messages|models\/[^/\s]+:(?:streamGenerate|generate)Content)$/;

/** Requests to such paths are sent to be refused. */
export const UNCHECKED = '/unchecked';

interface Heard {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * From now on servers of this process refuse, until the result is called. What they refused stands in
 * `folder`, since a call that was repaired, or a fallback, would hide it.
 */
export function refuseLive(folder: string, unchecked: string = UNCHECKED): () => void {
  const onRequest = (message: unknown): void => {
    const { request, response } = message as Heard;
    const path = (request.url ?? '').replace(/\?.*/, '');
    if (!MODEL_PATH.test(path) || path.startsWith(unchecked)) return;
    const chunks: Buffer[] = [];
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null, ...rest): boolean => {
      if (chunk !== null) chunks.push(Buffer.from(chunk));
      const body = chunk === null ? bodyOf(Buffer.concat(chunks).toString('utf8')) : undefined;
      const problem = body && refusalOf(path, body);
      // A handler that does not read the request has already answered.
      if (problem === undefined || response.headersSent) return push(chunk, ...rest);
      appendFileSync(fileIn(folder), `${path}: ${problem}\n${JSON.stringify(body)}\n`);
      refuse(response, path, problem, body ?? {});
      return false;
    };
  };
  diagnostics.subscribe('http.server.request.start', onRequest);
  return () => diagnostics.unsubscribe('http.server.request.start', onRequest);
}

/** @throws Error when a request was refused since the folder was made. */
export function expectTaken(folder: string): void {
  const file = fileIn(folder);
  if (!existsSync(file)) return;
  const refused = readFileSync(file, 'utf8');
  throw new Error(`Expected no request that a provider refuses, got:\n${refused.slice(0, 40_000)}`);
}

function fileIn(folder: string): string {
  return join(folder, 'refused');
}

function bodyOf(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    // No JSON: the test sends something else.
    return undefined;
  }
}
