/**
 * The proof that nothing hidden reaches a model: runs of the suite are given a value under a hidden
 * key, every request to an HTTP server of the suite's processes is kept in a folder, and at the end of
 * the suite the value must stand in none of them.
 *
 * Requests are heard by Node's own channel of HTTP servers, so a provider that a test starts is
 * heard without being told: aimock, plain servers, the provider of an example.
 */
import diagnostics from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { isPlainObject } from '../../src/core/base/json.ts';
import { isStep } from '../../src/core/contract/piping.ts';

/** What no model may ever see. Letters and digits alone: it is the same in every encoding of text. */
export const HIDDEN_VALUE = 'hiddenValue7Qx2mVb9ZkT4';

/** The environment variable with the folder of the suite's requests; set by `hidden-values-setup.ts`. */
export const REQUESTS_FOLDER = 'TESTED_REQUESTS';

/** `context` of a start with the hidden value in it; a Step and what is no context stay as they are. */
export function withHiddenValue(context?: unknown): JsonObject {
  if (context === undefined) return { _hidden: HIDDEN_VALUE };
  // A mistake stays one, to be refused as what it is.
  if (!isPlainObject(context) || isStep(context)) return context as JsonObject;
  return { ...(context as JsonObject), _hidden: { deep: [HIDDEN_VALUE] } satisfies Json };
}

/** Where requests to a bucket of a test go: it is no model, and keeps all that runs hold. */
const BUCKET_PATH = '/blobs/';

/** Keeps each request that an HTTP server of this process gets from now on; stops when called. */
export function recordRequests(folder: string): () => void {
  const file = join(folder, `${process.pid}-${Date.now()}.txt`);
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url?.startsWith(BUCKET_PATH) === true) return;
    const chunks: Buffer[] = [];
    // Listening to `data` would take the body from a handler that begins to read it later.
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null, ...rest): boolean => {
      if (chunk !== null) chunks.push(Buffer.from(chunk));
      else write(file, request.url ?? '', Buffer.concat(chunks).toString('utf8'));
      return push(chunk, ...rest);
    };
  };
  diagnostics.subscribe('http.server.request.start', onRequest);
  return () => diagnostics.unsubscribe('http.server.request.start', onRequest);
}

/** A line for each request: where it went, and its body. */
function write(file: string, url: string, body: string): void {
  appendFileSync(file, `${url} ${body.replaceAll('\n', ' ')}\n`);
}

/** Characters of a request that are shown on each side of what was found. */
const SHOWN = 200;

/** A line for each request that is kept in `folder`: where it went, and its body. */
function requestLines(folder: string): readonly string[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const names = files.filter((name) => name.endsWith('.txt')).toSorted();
  return names.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
}

/** What was asked with `text` in it, an excerpt for each request, and how many requests there were. */
export function requestsWith(
  folder: string,
  text: string,
): { readonly requests: number; readonly found: readonly string[] } {
  const lines = requestLines(folder);
  const found = lines
    .filter((line) => line.includes(text))
    .map((line) => {
      const at = line.indexOf(text);
      const url = line.slice(0, line.indexOf(' '));
      return `${url}: …${line.slice(Math.max(0, at - SHOWN), at + text.length + SHOWN)}…`;
    });
  return { requests: lines.length, found };
}

/** @throws Error when `text` stands in a request of `folder`. */
export function expectHidden(folder: string, text: string = HIDDEN_VALUE): void {
  const { requests, found } = requestsWith(folder, text);
  if (found.length === 0) return;
  throw new Error(
    `Expected no model to see what is hidden, got ${found.length} of ${requests} requests with it:\n${found.join('\n')}`,
  );
}
