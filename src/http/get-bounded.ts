/**
 * Gets what is at an address that comes with a run, bounded in bytes and in redirects.
 *
 * I1  Each address, also of a redirect, is checked as it is connected to.
 * I2  What is read never has more bytes than `take` allows; nothing is unpacked.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
  checkAddress,
  isAllowedHost,
  isNotPublic,
  isRefusedAddress,
  lookupWithout,
} from './allowed-hosts.ts';

/** How a body is got. */
export interface GetOptions {
  /** Ends the request. */
  readonly signal: AbortSignal;
  /** The hosts that may be asked, also at private addresses; undefined: any at a public address. */
  readonly hosts: readonly string[] | undefined;
  readonly userAgent: string;
  /** Called with the bytes of each piece before it is kept; throws when there are too many. */
  readonly take: (bytes: number) => void;
}

/** What an address answered. */
export interface GotBody {
  readonly bytes: Buffer;
  /** As the header says it, without parameters; undefined: it does not. */
  readonly mediaType: string | undefined;
}

const MAX_REDIRECTS = 5;

/** Gets the body at `url`; rejects in words unless it is answered with a status from 200 to 299. */
export async function getBounded(url: URL, options: GetOptions): Promise<GotBody> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const reply = await opened(at, options);
    const { statusCode = 0, headers } = reply;
    if (statusCode >= 200 && statusCode < 300) return readBody(reply, options);
    reply.destroy();
    const { location } = headers;
    if (statusCode < 300 || statusCode >= 400 || location === undefined) {
      throw new Error(`${at.host} answered with status ${statusCode}`);
    }
    if (!URL.canParse(location, at.href)) throw new Error(`${at.host} redirects to no address`);
    at = new URL(location, at);
  }
  throw new Error(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
}

async function opened(
  url: URL,
  { signal, hosts, userAgent }: GetOptions,
): Promise<IncomingMessage> {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`${url.protocol} is neither http: nor https:`);
  }
  if (!isAllowedHost(url.hostname, hosts)) {
    throw new Error(`this worker may not ask ${url.hostname}`);
  }
  const isRefused = hosts === undefined ? isNotPublic : isRefusedAddress;
  checkAddress(url, isRefused);
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': userAgent };
  // A connection of its own is closed with its body, however much of it is unread.
  const lookup = lookupWithout(isRefused);
  const asked: RequestOptions = { headers, lookup, agent: false, signal };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send(url, asked, (reply) => resolve(reply));
    sent.on('error', reject);
    sent.end();
  });
}

async function readBody(reply: IncomingMessage, { take }: GetOptions): Promise<GotBody> {
  const { 'content-encoding': encoding = 'identity', 'content-type': type } = reply.headers;
  const pieces: Buffer[] = [];
  try {
    if (encoding !== 'identity') throw new Error(`it was sent as ${encoding}`);
    for await (const piece of reply) {
      take((piece as Buffer).length);
      pieces.push(piece as Buffer);
    }
  } finally {
    reply.destroy();
  }
  const mediaType = type?.split(';')[0]?.trim().toLowerCase();
  return { bytes: Buffer.concat(pieces), mediaType: mediaType === '' ? undefined : mediaType };
}
