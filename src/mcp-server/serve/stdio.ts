/** The server over stdin and stdout, for a host that starts it as a process. */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { MAX_REQUEST_BYTES } from '../create-mcp-server.ts';

/** The streams of a process, which carry nothing but the protocol. */
export interface StdioStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** How the server serves over stdio. */
export interface StdioParts {
  readonly streams: StdioStreams;
  /** Ends it, as the end of stdin does. */
  readonly signal: AbortSignal;
  /** Where errors of the connection go; never stdout. */
  readonly log: (message: string) => void;
}

/** Serves one client until stdin ends, a message is too large, or `signal` aborts. */
export async function serveOverStdio(
  factory: () => McpServer,
  { streams, signal, log }: StdioParts,
): Promise<void> {
  const transport = new EndingTransport(streams.stdin, streams.stdout, {
    maxBufferSize: MAX_REQUEST_BYTES,
  });
  const handle = serveStdio(factory, { transport, onerror: (error) => log(error.message) });
  const stop = (): void => void handle.close();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await transport.ended;
  signal.removeEventListener('abort', stop);
  await handle.close();
  streams.stdin.destroy();
}

/** A transport that says when it has ended. */
class EndingTransport extends StdioServerTransport {
  readonly ended: Promise<void>;
  private end: () => void = () => undefined;

  constructor(...args: ConstructorParameters<typeof StdioServerTransport>) {
    super(...args);
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  override async close(): Promise<void> {
    await super.close();
    this.end();
  }
}
