/**
 * Decrypts and encrypts payloads for Temporal's web UI and CLI, over HTTP.
 *
 * I1  A browser gets an answer only for a page of the given origins: any other `Origin` is refused,
 *     whatever it asks.
 * I2  With a token, every request but a preflight needs it. It is compared in constant time.
 * I3  Bodies and answers are bounded, one by one and together; nothing is read of a request that is
 *     refused.
 * I4  No answer may be cached, and nothing of a payload is logged.
 */
import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { errorText } from '../core/base/error-text.ts';
import { UsageError, usageErrorOf, type UsageProblem } from '../core/base/usage-error.ts';
import { shown } from '../core/text/shown.ts';
import {
  environmentProtection,
  protectionOf,
  type Protection,
  type ProtectionOptions,
} from '../protection/protection.ts';
import { isAmong } from '../protection/same-text.ts';
import { readerTokens } from '../protection/stream-token.ts';
import { holdBytes, type HeldBytes } from './held-bytes.ts';
import { largeOpenings } from './large-opening.ts';
import { decode, download, encode, type Transform } from './transform.ts';
import { MAX_BODY_BYTES, readPayloads, RefusedRequest } from './wire.ts';

/** Who may ask a codec server. */
export interface CodecAccess {
  /** Origins of web UIs, such as `https://cloud.temporal.io`. Default: none. */
  readonly origins?: readonly string[];
  /**
   * The bearer token that requests must carry; several, separated by commas: one of them. Default:
   * none is asked for.
   */
  readonly token?: string;
}

/** Options of {@link codecHandler}. */
export interface CodecHandlerOptions extends CodecAccess {
  /** Default: the keys and the blob store of the environment. */
  readonly protection?: ProtectionOptions;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Parts of {@link codecApp}. */
export interface CodecAppParts extends CodecAccess {
  readonly protection: Protection;
}

type Env = { Bindings: Partial<HttpBindings> };

/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_S = 600;

const TRANSFORMS: ReadonlyMap<string, Transform> = new Map([
  ['encode', encode],
  ['decode', decode],
  ['download', download],
]);

/**
 * A codec server for a server of your own: answers requests at `/decode`, `/encode` and `/download`,
 * and at the same below a namespace.
 *
 * Whoever may call it can read what the keys protect. It checks the origin of pages, and the token
 * if there is one; every other check of who asks is yours.
 *
 * @throws UsageError `environment` or `protection` for keys that are not valid, `codec_server` for an
 * origin that is not one.
 * @example
 * const app = new Hono();
 * app.mount('/codec', codecHandler({ protection, origins: ['https://cloud.temporal.io'], token }));
 */
export function codecHandler({
  protection,
  env = process.env,
  ...access
}: CodecHandlerOptions = {}): (request: Request) => Promise<Response> {
  const problems: UsageProblem[] = [];
  const found = environmentProtection(env, (message) => {
    problems.push({ code: 'environment', message });
  });
  if (problems.length > 0) throw usageErrorOf(problems);
  const app = codecApp({ ...access, protection: protectionOf(protection, found) });
  return async (request) => app.fetch(request, {});
}

/** The paths and checks of a codec server. */
export function codecApp({ protection, origins = [], token }: CodecAppParts): Hono<Env> {
  for (const origin of origins) checkOrigin(origin);
  const accepted =
    token === undefined ? undefined : readerTokens(token).map((one) => `Bearer ${one}`);
  const begin = holdBytes();
  const beginOpening = largeOpenings();
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined || origins.includes(origin)) return next();
    return refuse(c, 403, 'Expected a page of an allowed origin. Allow it with --origin.');
  }, corsFor(origins));
  app.all('*', async (c) => {
    const transform = transformOf(c.req.path);
    if (transform === undefined) {
      return refuse(c, 404, 'Expected the path /decode, /encode or /download.');
    }
    if (c.req.method !== 'POST') {
      c.header('allow', 'POST');
      return refuse(c, 405, 'Expected POST.');
    }
    if (accepted !== undefined && !isAmong(c.req.header('authorization') ?? '', accepted)) {
      c.header('www-authenticate', 'Bearer');
      return refuse(c, 401, 'Expected the token of this codec server.');
    }
    const held = begin();
    const opening = beginOpening();
    c.env.outgoing?.once('close', () => held.release());
    try {
      const keepsReferences = c.req.query('preserveStorageRefs') === 'true';
      const received = readPayloads(await readBody(c.req.raw, held));
      const answer = JSON.stringify({
        payloads: await transform(protection, received, { keepsReferences, opening, held }),
      });
      held.take(answer.length);
      return c.body(answer, 200, JSON_ANSWER);
    } catch (error) {
      // What it had opened goes before its client reads why.
      held.release();
      if (error instanceof RefusedRequest) return refuse(c, error.status, error.message);
      throw error;
    } finally {
      opening.release();
      // Elsewhere than in Node nothing says when the answer has left.
      if (c.env.outgoing === undefined) held.release();
    }
  });
  app.onError((error, c) => {
    process.emitWarning(`The codec server failed: ${errorText(error)}`, 'EverloopWarning');
    return refuse(c, 500, 'Unexpected. The log of the codec server says what it was.');
  });
  return app;
}

/** What browsers hear of the origins whose pages may ask. */
function corsFor(origins: readonly string[]): MiddlewareHandler {
  return cors({
    origin: [...origins],
    allowMethods: ['POST'],
    allowHeaders: ['authorization', 'authorization-extras', 'content-type', 'x-namespace'],
    credentials: true,
    maxAge: PREFLIGHT_S,
  });
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return;
  throw new UsageError(
    'codec_server',
    `Expected an origin such as \`https://ui.example\`, got ${shown(origin)}. Leave out the path, and name no wildcard.`,
  );
}

const JSON_ANSWER = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** `/decode` or `/{namespace}/decode` */
function transformOf(path: string): Transform | undefined {
  const [, name = ''] = /^(?:\/[^/]+)?\/([a-z]+)$/.exec(path) ?? [];
  return TRANSFORMS.get(name);
}

async function readBody({ headers, body }: Request, held: HeldBytes): Promise<string> {
  if (Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) throw tooLarge();
      held.take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RefusedRequest) throw error;
    throw new RefusedRequest(400, 'Expected a whole body, got a part of one.');
  }
  return Buffer.concat(chunks).toString();
}

function tooLarge(): RefusedRequest {
  return new RefusedRequest(413, `Expected a body of at most ${MAX_BODY_BYTES} bytes.`);
}

type Refusal = 401 | 403 | 404 | 405 | 500 | RefusedRequest['status'];

/** The connection is closed, because the body may not have been read. */
function refuse(c: Context<Env>, status: Refusal, text: string): Response {
  return c.text(`${text}\n`, status, { connection: 'close', 'cache-control': 'no-store' });
}
