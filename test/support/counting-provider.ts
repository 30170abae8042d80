/** A provider over HTTP that counts the requests under way. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The provider, and what it has seen. */
export interface CountingProvider {
  readonly url: string;
  /** Requests that it has answered. */
  answered: number;
  /** The most requests that were under way at once. */
  most: number;
  /** The most that were under way at once since a moment, in milliseconds since 1970. */
  mostSince(moment: number): number;
  /** Answers all requests that are under way, and those to come at once. */
  finish(): void;
  close(): Promise<void>;
}

/** Serves on a port of its own; each request takes `ms`, if it is not told to finish. */
export async function openCountingProvider(ms: number): Promise<CountingProvider> {
  const changes: { readonly at: number; readonly underWay: number }[] = [];
  let underWay = 0;
  const count = (more: number): void => {
    underWay += more;
    changes.push({ at: Date.now(), underWay });
    provider.most = Math.max(provider.most, underWay);
  };
  const finished = new AbortController();
  const server = createServer((_request, response) => {
    count(1);
    const closed = new AbortController();
    // Also when the worker is killed: its connections close.
    response.once('close', () => {
      closed.abort();
      count(-1);
    });
    void sleep(ms, undefined, { signal: AbortSignal.any([closed.signal, finished.signal]) })
      .catch(() => undefined)
      .then(() => {
        if (closed.signal.aborted) return;
        provider.answered += 1;
        response.end('done');
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: CountingProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    answered: 0,
    most: 0,
    mostSince: (moment) => {
      const before = changes.findLast(({ at }) => at <= moment)?.underWay ?? 0;
      const later = changes.filter(({ at }) => at > moment);
      return Math.max(before, ...later.map(({ underWay: used }) => used));
    },
    finish: () => finished.abort(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}
