/** A request to the endpoint of one worker. */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { EndpointAddress } from './chunk-endpoints.ts';

/** What to ask of an endpoint. */
export interface EndpointQuestion {
  readonly path: string;
  readonly query?: { readonly [name: string]: string };
  /** The media type of the answer. */
  readonly accept: string;
}

/** The worker refuses the token. */
export class RefusedToken extends Error {}

/** The same for the same worker. */
export function keyOf({ url, ip }: EndpointAddress): string {
  return `${url} ${ip?.address ?? ''}`;
}

/** The error of a reader whose token all workers refuse; `address` is that of one of them. */
export function refusedToken({ url, token }: EndpointAddress): UsageError {
  const got = token === '' ? 'none' : 'another one';
  return new UsageError(
    'stream_token',
    `Expected the token of the workers, got ${got}, which ${url} refuses. Set \`EVERLOOP_STREAM_TOKEN\` to the value that the workers have.`,
  );
}

/** Begins a request; rejects with {@link RefusedToken}, or for any answer but 200. */
export function requestOf(
  { url, token, ip }: EndpointAddress,
  { path, query = {}, accept }: EndpointQuestion,
  { signal, silenceMs }: { readonly signal: AbortSignal; readonly silenceMs: number },
): Promise<IncomingMessage> {
  const target = new URL(`${url.replace(/\/+$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  const open = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asked = open(
      target,
      defined({
        signal,
        // A pooled connection would outlive its reader.
        agent: false,
        headers: { accept, authorization: `Bearer ${token}` },
        lookup: ip === undefined ? undefined : lookupOf(ip),
      }),
    );
    asked.setTimeout(silenceMs, () => asked.destroy(new Error('The worker fell silent.')));
    asked.on('error', reject);
    asked.once('response', (response) => {
      if (response.statusCode === 200) return resolve(response);
      response.resume();
      if (response.statusCode === 401) return reject(new RefusedToken());
      reject(new Error(`Expected 200, got ${String(response.statusCode)}.`));
    });
    asked.end();
  });
}

/** A lookup that returns one address, in either form that Node asks for. */
function lookupOf({ address, family }: NonNullable<EndpointAddress['ip']>): LookupFunction {
  return (_host, options, answer) => {
    if (options.all === true) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}
