/**
 * A provider over plain HTTP that speaks the OpenAI-compatible protocol: it plays replies in order,
 * can stream one slowly for ever, and notices when its client closes the connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sse, startPlainServer } from './aimock.ts';

/** A reply: a text; `never ends`, a text of which a piece comes every 50 ms; or a handler of one's own. */
export type ProviderReply =
  | string
  | { readonly kind: 'never ends' }
  | ((response: ServerResponse, request: IncomingMessage, body: string) => void);

/** What a provider saw. */
export interface SlowProvider {
  readonly url: string;
  /** Bodies of the requests, in order. */
  readonly requests: readonly string[];
  /** When connections of unfinished replies were closed by the client, in ms since 1970. */
  readonly abortedAt: readonly number[];
  stop(): Promise<void>;
}

/** Tokens that every reply reports, and an unfinished one from its first piece on. */
export const PROVIDER_TOKENS = { prompt_tokens: 40, completion_tokens: 2 } as const;

const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const PIECE_MS = 50;

/**
 * Starts a provider that answers the n-th request with the n-th reply, then with the last one. It
 * listens at any free port unless told where.
 */
export async function startSlowProvider(
  replies: readonly ProviderReply[],
  port = 0,
): Promise<SlowProvider> {
  const requests: string[] = [];
  const abortedAt: number[] = [];
  const server = await startPlainServer((request, response, body) => {
    const reply = replies[Math.min(requests.length, replies.length - 1)] ?? '';
    requests.push(body);
    response.on('close', () => {
      if (!response.writableEnded) abortedAt.push(Date.now());
    });
    if (typeof reply === 'function') return reply(response, request, body);
    response.writeHead(200, EVENT_STREAM);
    if (typeof reply === 'string') {
      response.end(`${sse([piece(reply), piece('', 'stop')])}data: [DONE]\n\n`);
      return;
    }
    const write = (): void => void response.write(sse([piece('word ')]));
    write();
    const timer = setInterval(write, PIECE_MS);
    response.on('close', () => clearInterval(timer));
  }, port);
  return { url: server.url, requests, abortedAt, stop: () => server.stop() };
}

/** The providers of a file of tests. */
export interface SlowProviders {
  /** As {@link startSlowProvider}. */
  start(replies: readonly ProviderReply[], port?: number): Promise<SlowProvider>;
  /** Stops all that were started. */
  stop(): Promise<void>;
}

/** Providers, none yet. */
export function slowProviders(): SlowProviders {
  const started: SlowProvider[] = [];
  return {
    start: async (replies, port) => {
      const provider = await startSlowProvider(replies, port);
      started.push(provider);
      return provider;
    },
    stop: async () => {
      await Promise.all(started.splice(0).map((provider) => provider.stop()));
    },
  };
}

/** A piece of a streamed reply, with the usage so far. */
export function piece(content: string, finishReason: string | null = null): object {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'slow',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finishReason }],
    usage: { ...PROVIDER_TOKENS, total_tokens: 42 },
  };
}
