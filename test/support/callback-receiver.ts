/**
 * A receiver of callbacks: a real HTTP server, which checks signatures with the reference library of
 * Standard Webhooks and keeps all requests.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { CallbackBody, CallbackType } from '../../src/core/contract/callback.ts';

/** A secret of the form that workers take, and of 32 bytes. */
export const CALLBACK_SECRET: string = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A request that came. */
export interface ReceivedCallback {
  readonly id: string;
  /** Whether the library accepts the signature. */
  readonly isSigned: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: CallbackBody;
  readonly status: number;
}

/** How a receiver answers; headers beside the status. */
export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A receiver. */
export interface CallbackReceiver {
  readonly url: string;
  readonly port: number;
  /** All requests, in order. */
  readonly received: readonly ReceivedCallback[];
  /** Those that it took, each id once. */
  taken(type?: CallbackType): readonly ReceivedCallback[];
  /** How it answers from now on; null: not at all. Default: 204. */
  answer(reply: ReceiverReply | null): void;
  close(): Promise<void>;
}

/** Opens a receiver on `port`; default: any. */
export async function openReceiver(port = 0): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  let reply: ReceiverReply | null = { status: 204 };
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      const { headers } = request;
      const status = reply?.status ?? 0;
      received.push({
        id: String(headers['webhook-id']),
        isSigned: isSigned(text, headers),
        headers,
        text,
        body: JSON.parse(text) as CallbackBody,
        status,
      });
      if (reply !== null) response.writeHead(status, reply.headers).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const at = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${at}/hook`,
    port: at,
    received,
    taken: (type) => {
      const good = received.filter(({ status }) => status >= 200 && status < 300);
      const first = good.filter(
        (one, index) => good.findIndex(({ id }) => id === one.id) === index,
      );
      return first.filter(({ body }) => type === undefined || body.type === type);
    },
    answer: (next) => {
      reply = next;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

function isSigned(text: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(CALLBACK_SECRET).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
