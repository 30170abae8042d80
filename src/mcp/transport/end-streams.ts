/**
 * Ends the streams of requests that are canceled or late. The SDK leaves those of the older revisions
 * open, and opens them again when the server closes them, as long as the connection lives.
 */
import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Requests whose streams may still be open; more are not made at once. */
const MAX_OPEN = 1_000;

/** Makes `transport` end them. */
export function endStreams(transport: StreamableHTTPClientTransport): void {
  const open = new Map<unknown, AbortController>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const canceled = canceledId(message);
    open.get(canceled)?.abort();
    open.delete(canceled);
    if (Array.isArray(message) || !('id' in message) || !('method' in message)) {
      return send(message, options);
    }
    const end = new AbortController();
    open.set(message.id, end);
    const [oldest] = open.keys();
    if (open.size > MAX_OPEN) open.delete(oldest);
    const { requestSignal = end.signal } = options ?? {};
    return send(message, { ...options, requestSignal });
  };
}

/** The id of the request that `message` cancels. */
function canceledId(message: JSONRPCMessage | JSONRPCMessage[]): unknown {
  if (Array.isArray(message) || !('method' in message)) return undefined;
  const { method, params } = message;
  return method === 'notifications/cancelled' ? params?.['requestId'] : undefined;
}
