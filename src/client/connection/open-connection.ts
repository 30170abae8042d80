/** A client and its connection, which can be closed while calls are open. */
import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
} from '@temporalio/client';
import { clientConverter, tolerantConverter } from '../../protection/data-converter.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { repeatRefused, type Interceptor } from './repeat-refused.ts';

/** A connection, and the way to close it. */
export interface OpenConnection {
  readonly connection: Connection;
  /** Fails open calls with the status CANCELLED, then closes. May be called twice. */
  readonly close: () => Promise<void>;
}

type Call = ReturnType<Interceptor>;

/** The gRPC status CANCELLED, which the retry interceptor does not repeat. */
const CANCELLED = 1;

/**
 * A page of a history may have more than the 4 MB that gRPC takes by default, and the SDK names the
 * option without `grpc.`, which has no effect. After an outage the channel would wait up to two
 * minutes before it looks again.
 */
const CHANNEL = {
  'grpc.max_receive_message_length': 134_217_728,
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 3_000,
};

const guarded = new WeakSet<object>();

/**
 * Whether `connection` may be closed while calls are open, so that a call may outlive its reader. One
 * that the user has made may not.
 */
export function isGuarded(connection: ConnectionLike): boolean {
  return guarded.has(connection);
}

/**
 * Connects. The SDK retries failed calls from a timer. A retry on a closed channel throws there and
 * ends the process (seen with 1.24.0: `close()` while a `result()` waits). So an interceptor inside
 * the one that retries replaces the channel once it is closed.
 */
export async function openConnection(options: ConnectionOptions): Promise<OpenConnection> {
  let isClosed = false;
  const guard: Interceptor = (callOptions, nextCall) =>
    // The types ask for a class, but the SDK's own interceptors return the interface too.
    isClosed ? canceledCall() : (nextCall(callOptions) as Call);
  const connection = await Connection.connect({
    ...options,
    channelArgs: { ...CHANNEL, ...options.channelArgs },
    interceptors: [...(options.interceptors ?? []), repeatRefused, guard],
  });
  guarded.add(connection);
  return {
    connection,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await connection.close();
    },
  };
}

/** A client on `connection` whose texts are well-formed, and encrypted if there are keys. */
export function clientOf(
  connection: ConnectionLike,
  namespace: string,
  protection: Protection = NO_PROTECTION,
): Client {
  return new Client({ connection, namespace, dataConverter: clientConverter(protection) });
}

const tolerantClients = new WeakMap<Client, Client>();

/**
 * A client for lists and descriptions: a memo that `client` cannot decrypt reads as `(encrypted)`
 * there and is no error. A client that is not of the SDK is taken as it is.
 */
export function tolerant(client: Client): Client {
  const known = tolerantClients.get(client);
  if (known !== undefined) return known;
  if (!(client instanceof Client)) return client;
  const { connection, options } = client;
  const { namespace, identity, loadedDataConverter } = options;
  const made = new Client({
    connection,
    namespace,
    identity,
    dataConverter: tolerantConverter(loadedDataConverter),
  });
  tolerantClients.set(client, made);
  return made;
}

const refusingClients = new WeakMap<Client, Client>();

/** A client for queries of live runs: the service refuses those of ended ones. */
export function refusingEnded(client: Client): Client {
  const known = refusingClients.get(client);
  if (known !== undefined) return known;
  if (!(client instanceof Client)) return client;
  const { connection, options } = client;
  const { namespace, identity, loadedDataConverter: dataConverter } = options;
  const workflow = { queryRejectCondition: 'NOT_OPEN' as const };
  const made = new Client({ connection, namespace, identity, dataConverter, workflow });
  refusingClients.set(client, made);
  return made;
}

/** A call that ends as cancelled and does not touch the channel. */
function canceledCall(): Call {
  const call = {
    start: (metadata: unknown, listener?: Parameters<Call['start']>[1]): void => {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({
          code: CANCELLED,
          details: 'The client is closed.',
          metadata: metadata as Parameters<Call['start']>[0],
        });
      });
    },
    sendMessage: () => undefined,
    startRead: () => undefined,
    halfClose: () => undefined,
    cancelWithStatus: () => undefined,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
  // The type is a class; these are all members that are used.
  return call as unknown as Call;
}
